//! tmp
fn main() {
    let root = cardmark_host::Root::system();
    for a in std::env::args().skip(1) {
        let r = cardmark_host::resolve(&root, std::path::Path::new(&a));
        eprintln!("{a}: {r:#?}");
        if let Ok(r) = r {
            eprintln!("{:?}", cardmark_host::read_counters(&root, &r.counted));
        }
    }
    eprintln!(
        "{:#?}\n{:?}\n{:?}",
        cardmark_host::mounted_directories(&root),
        cardmark_host::read_board(&root),
        cardmark_host::read_host(&root)
    );
}
