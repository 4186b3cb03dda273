/* Plugin for qemu-arm: counts the program's own instructions between one pread64 or pwrite64 of a thread and its next
 * one, by kind and size, and prints the median of each. In the measuring loop at queue depth 1 that is all that the
 * program computes for one operation: offset, payload, histogram, clock. Instructions of the kernel are not in it.
 *
 * Build: cc -O2 -shared -fPIC -o instructions.so instructions.c
 * Use:   qemu-arm -plugin instructions.so,out=FILE PROGRAM...
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of QEMU's plugin interface, version 1: Debian packages no header. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;
enum { NO_REGISTERS = 0 };
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t,
    void (*)(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

/* System calls of 32-bit ARM. */
enum { PREAD64 = 180, PWRITE64 = 181, THREADS = 256, KINDS = 16, MOST = 1 << 20 };

struct thread {
    uint64_t instructions; /* all so far */
    uint64_t since;        /* of them before the last operation */
    int64_t call;          /* that operation */
    uint64_t size;
};
static struct thread threads[THREADS];

struct kind {
    int64_t call;
    uint64_t size;
    size_t count;
    uint64_t *between;
};
static struct kind kinds[KINDS];
static const char *out;

static void on_block(unsigned number, void *instructions)
{
    threads[number % THREADS].instructions += (uintptr_t)instructions;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, NO_REGISTERS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void note(int64_t call, uint64_t size, uint64_t between)
{
    for (int i = 0; i < KINDS; i++) {
        struct kind *kind = &kinds[i];
        if (!kind->between) {
            kind->between = malloc(MOST * sizeof(uint64_t));
            kind->call = call;
            kind->size = size;
        }
        if (kind->call == call && kind->size == size) {
            if (kind->between && kind->count < MOST)
                kind->between[kind->count++] = between;
            return;
        }
    }
}

static void on_call(qemu_plugin_id_t id, unsigned number, int64_t call, uint64_t a1, uint64_t a2, uint64_t size, uint64_t a4,
    uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    struct thread *thread = &threads[number % THREADS];
    (void)id, (void)a1, (void)a2, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (call != PREAD64 && call != PWRITE64)
        return;
    if (thread->call == call && thread->size == size)
        note(call, size, thread->instructions - thread->since);
    thread->call = call;
    thread->size = size;
    thread->since = thread->instructions;
}

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
    FILE *file = fopen(out, "w");
    (void)id, (void)data;
    for (int i = 0; file && i < KINDS && kinds[i].between; i++) {
        struct kind *kind = &kinds[i];
        if (!kind->count)
            continue;
        qsort(kind->between, kind->count, sizeof(uint64_t), by_value);
        fprintf(file, "%s %llu %zu %llu %llu\n", kind->call == PREAD64 ? "read" : "write", (unsigned long long)kind->size,
            kind->count, (unsigned long long)kind->between[kind->count / 2],
            (unsigned long long)kind->between[kind->count * 99 / 100]);
    }
    if (file)
        fclose(file);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int count, char **arguments)
{
    (void)info;
    for (int i = 0; i < count; i++)
        if (!strncmp(arguments[i], "out=", 4))
            out = strdup(arguments[i] + 4);
    if (!out)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(id, on_call);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
