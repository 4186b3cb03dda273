//! Submissions and what follows from them.

use axum::http::StatusCode;
use cardmark_core::{Offsets, Order, OriginKind, Record, Trial, TrialDraws, record_to_json};
use cardmark_samples::in_a_reader;
use serde_json::Value;

use crate::rig::{Rig, another, config, corpus, id_of, measured, text_of};

fn check<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let checks = answer["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("{name}: {answer:#}"))
}

#[tokio::test]
async fn a_run_is_stored_once_and_its_bytes_come_back() {
    let (rig, text) = (Rig::new().await, text_of(&measured()));
    let first = rig.submit(1, &text).await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.text());
    let answer = first.json();
    assert_eq!(
        (&answer["state"], &answer["level"]),
        (&"shared".into(), &"measured".into())
    );
    assert_eq!(answer["checks"].as_array().unwrap().len(), 13);
    assert_eq!(first.headers["location"].to_str().unwrap(), answer["path"]);
    let again = rig.submit(1, &text).await;
    assert_eq!(
        (again.status, again.json()),
        (StatusCode::OK, answer.clone())
    );
    let id = id_of(&text);
    let state = rig.get(&format!("/api/v1/records/{id}/state")).await;
    assert_eq!(state.json(), answer);
    let document = rig.get(&format!("/api/v1/records/{id}/document")).await;
    assert_eq!(document.text(), text);
}

#[tokio::test]
async fn a_record_gives_figures_that_were_derived_anew() {
    let rig = Rig::new().await;
    let record = measured();
    rig.submit(1, &text_of(&record)).await;
    let view = rig.get(&format!("/api/v1/records/{}", record.id)).await;
    assert_eq!(
        view.json()["metrics"],
        serde_json::to_value(&record.metrics).unwrap()
    );
    let tag = view.headers["etag"].to_str().unwrap().to_owned();
    let path = format!("/api/v1/records/{}", record.id);
    let known = rig.ask("GET", &path, &[("if-none-match", &tag)], "").await;
    assert_eq!(
        (known.status, known.body.len()),
        (StatusCode::NOT_MODIFIED, 0)
    );
}

#[tokio::test]
async fn other_content_under_an_id_is_refused_and_changes_nothing() {
    let (rig, mut record) = (Rig::new().await, measured());
    let text = text_of(&record);
    rig.submit(1, &text).await;
    record.started_at = Some("2020-02-02".to_owned());
    let other = rig.submit(2, &text_of(&record)).await;
    assert_eq!(other.status, StatusCode::CONFLICT);
    assert_eq!(other.json()["type"], "/problems/other-content");
    let kept = rig
        .get(&format!("/api/v1/records/{}/document", record.id))
        .await;
    assert_eq!(kept.text(), text);
}

#[tokio::test]
async fn a_forged_run_is_quarantined_with_its_reason_and_counts_nowhere() {
    let rig = Rig::new().await;
    let mut record = another(1);
    record.metrics[0].value *= 2.0;
    let answer = rig.submit(1, &text_of(&record)).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    let answer = answer.json();
    assert_eq!(answer["state"], "quarantined");
    assert_eq!(check(&answer, "recomputed")["outcome"], "failed");
    let view = rig.get(&format!("/api/v1/records/{}", record.id)).await;
    assert_eq!(
        (view.status, &view.json()["state"]),
        (StatusCode::OK, &"quarantined".into())
    );
    let product = rig.get("/api/v1/products/SanDisk%20Ultra%2032%20GB").await;
    assert_eq!(product.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_copy_under_another_id_is_quarantined_and_names_the_first() {
    let (rig, mut record) = (Rig::new().await, measured());
    let first = record.id;
    rig.submit(1, &text_of(&record)).await;
    record.id = another(5).id;
    let copy = rig.submit(2, &text_of(&record)).await.json();
    assert_eq!(copy["state"], "quarantined");
    let reason = check(&copy, "repeats")["reason"].as_str().unwrap();
    assert!(reason.contains(&first.to_string()), "{reason}");
}

#[tokio::test]
async fn simulated_runs_are_apart() {
    let rig = Rig::new().await;
    let mut record = corpus("run-sim-a1-32gb-quick");
    record
        .labels
        .insert("product".to_owned(), "SanDisk Ultra 32 GB".to_owned());
    let answer = rig.submit(1, &text_of(&record)).await.json();
    assert_eq!(
        (&answer["state"], &answer["level"]),
        (&"shared".into(), &"simulated".into())
    );
    let listed = |answer: Value| answer["records"].as_array().unwrap().len();
    assert_eq!(listed(rig.get("/api/v1/records").await.json()), 0);
    assert_eq!(
        listed(rig.get("/api/v1/records?simulated=true").await.json()),
        1
    );
    let product = rig.get("/api/v1/products/SanDisk%20Ultra%2032%20GB").await;
    assert_eq!(product.status, StatusCode::NOT_FOUND);
}

/// The run as if it had used this seed: its slowest operations are where the seed draws the first of their slices.
fn drawn_again(mut record: Record, seed: &str) -> Record {
    record.seed = Some(seed.to_owned());
    let seed = u64::from_str_radix(seed, 16).unwrap();
    let of_one_stream = |trial: &&mut Trial| trial.workload.manner.streams_count <= 1;
    for trial in record.trials.iter_mut().filter(of_one_stream) {
        if trial.workload.order != Order::Random {
            continue;
        }
        let draws = TrialDraws {
            seed,
            id: trial.id,
            ..TrialDraws::default()
        };
        let mut offsets = Offsets::new(&trial.workload, draws);
        let ramp_count = trial.untimed.unwrap().ramp_operations_count;
        for _ in 0..ramp_count {
            offsets.next_offset();
        }
        for slice in &mut trial.slices {
            let drawn: Vec<u64> = (0..slice.1).map(|_| offsets.next_offset()).collect();
            slice.3 = slice.3.map(|_| drawn[0]);
        }
    }
    record
}

#[tokio::test]
async fn a_fresh_seed_raises_the_level_once() {
    let rig = Rig::new().await;
    let mut seeds = Vec::new();
    for _ in 0..2 {
        let issued = rig.ask("POST", "/api/v1/seeds", &[], "").await;
        assert_eq!(issued.status, StatusCode::CREATED);
        seeds.push(issued.json()["seed"].as_str().unwrap().to_owned());
        assert_eq!(seeds.last().unwrap().len(), 16);
    }
    let with_seed = |record: Record, seed: &str, number: u128| {
        let mut record = drawn_again(record, seed);
        record.id = another(number).id;
        record.trials.last_mut().unwrap().started_ns += u64::try_from(number).unwrap();
        let _ = cardmark_judge::derive_again(&mut record);
        text_of(&record)
    };
    // Any seed fits to a run without random places: it shows nothing.
    let mut in_order = in_a_reader(&corpus("run-sim-patchy-32gb-position"));
    in_order.origin.kind = OriginKind::Measured;
    let of_any = with_seed(in_order, &seeds[0], 3);
    let of_any = rig.submit(1, &of_any).await.json();
    assert_eq!(check(&of_any, "fresh_seed")["outcome"], "passed");
    assert_eq!(check(&of_any, "seed")["outcome"], "cannot_tell");
    assert_eq!(
        (&of_any["state"], &of_any["level"]),
        (&"shared".into(), &"measured".into()),
        "{of_any:#}"
    );
    let with_seed = |number| with_seed(corpus("run-measured-application"), &seeds[1], number);
    let first = rig.submit(1, &with_seed(1)).await.json();
    assert_eq!(check(&first, "seed")["outcome"], "passed", "{first:#}");
    assert_eq!(
        check(&first, "fresh_seed")["outcome"],
        "passed",
        "{first:#}"
    );
    assert_eq!(first["level"], "measured_with_fresh_seed");
    let second = rig.submit(1, &with_seed(2)).await.json();
    assert_eq!(check(&second, "fresh_seed")["outcome"], "marked");
    assert_eq!(second["level"], "measured");
}

#[tokio::test]
async fn too_many_submissions_of_one_submitter_wait_and_a_repeated_one_does_not() {
    let mut config = config();
    config.writes.of_tag = 2;
    let rig = Rig::with(config).await;
    for number in [1, 2] {
        assert_eq!(
            rig.submit(1, &text_of(&another(number))).await.status,
            StatusCode::CREATED
        );
    }
    let third = rig.submit(1, &text_of(&another(3))).await;
    assert_eq!(third.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(
        third.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
            > 0
    );
    assert_eq!(
        rig.submit(1, &text_of(&another(2))).await.status,
        StatusCode::OK
    );
    assert_eq!(
        rig.submit(2, &text_of(&another(3))).await.status,
        StatusCode::CREATED
    );
}

#[tokio::test]
async fn three_new_submitters_of_an_address_begin_to_count_each_day() {
    let mut config = config();
    config.writes.new_submitters_per_day = 3;
    let rig = Rig::with(config).await;
    for number in 1..=5_u8 {
        let answer = rig.submit(number, &text_of(&another(number.into()))).await;
        let answer = answer.json();
        let expected = if number <= 3 { "passed" } else { "not_counted" };
        let check = check(&answer, "new_submitters");
        assert_eq!(check["outcome"], expected, "{answer:#}");
        assert_eq!(answer["state"], "shared");
    }
    let product = rig.get("/api/v1/products/~sandisk%20ultra%2032%20gb").await;
    assert_eq!(product.json()["runs_count"], 3, "{}", product.text());
}

/// A disk of a virtual machine under the name of a card, as it is, and with the fields edited that show what it is.
#[tokio::test]
async fn a_virtual_disk_is_in_no_figure_of_a_product() {
    let rig = Rig::new().await;
    let mut plain = measured();
    let label = ("product".to_owned(), "Samsung Evo+ 32 GB".to_owned());
    plain.labels.extend([label]);
    let mut edited = another(9);
    edited.labels.clone_from(&plain.labels);
    edited.devices[0].reader = None;
    let _ = cardmark_judge::derive_again(&mut edited);
    for (record, level) in [(plain, "measured"), (edited, "card_not_identified")] {
        let answer = rig.submit(1, &text_of(&record)).await.json();
        assert_eq!(
            (&answer["state"], &answer["level"]),
            (&"shared".into(), &level.into()),
            "{answer:#}"
        );
        let page = rig.get(&format!("/runs/{}", record.id)).await.text();
        assert!(page.contains("no figure of a product counts it"), "{page}");
    }
    let key = cardmark_share::product_key("Samsung Evo+ 32 GB");
    let product = rig.get(&format!("/api/v1/products/{key}")).await.json();
    assert_eq!(product["runs_count"], 0, "{product:#}");
    assert_eq!(product["summaries"].as_array().map(Vec::len), Some(0));
}

/// All texts that a submission can hold, with what pages, databases and terminals dislike.
#[tokio::test]
async fn hostile_texts_are_data() {
    let rig = Rig::new().await;
    let hostile =
        "'; DROP TABLE records; --<script>alert(1)</script>\u{202e}\u{0}%_\\{{7*7}}../../etc";
    let mut record: Record = another(1);
    record
        .labels
        .insert("product".to_owned(), hostile.to_owned());
    record
        .labels
        .insert("setting".to_owned(), hostile.to_owned());
    record.devices[0].model = Some(hostile.to_owned());
    record.board = Some(cardmark_core::Board {
        model: Some(hostile.to_owned()),
        ..Default::default()
    });
    // A forger keeps every text.
    let text = record_to_json(&record).unwrap() + "\n";
    let statement =
        crate::rig::statement(record.id, 1, &[("product", hostile), ("setting", hostile)]);
    let answer = rig
        .submit(
            1,
            &format!("{text}{}\n", cardmark_core::visible(&statement)),
        )
        .await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    let listed = rig.get("/api/v1/records").await.json();
    let name = listed["records"][0]["product_name"].as_str().unwrap();
    assert!(
        name.starts_with("'; DROP TABLE") && !name.contains(['\u{202e}', '\u{0}']),
        "{name:?}"
    );
    let products = rig.get("/api/v1/products").await;
    assert_eq!(products.status, StatusCode::OK);
    assert!(
        products.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("application/json")
    );
    let key = products.json()["products"][0]["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let coded: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let product = rig.get(&format!("/api/v1/products/{coded}")).await;
    assert_eq!(
        (product.status, &product.json()["runs_count"]),
        (StatusCode::OK, &1.into())
    );
}

/// Refused requests cost their sender a limit too, and no name that a client gives to a method stays in memory.
#[tokio::test]
async fn refused_requests_are_limited_and_odd_methods_are_counted_as_one() {
    let mut config = config();
    (config.reads_at_once, config.reads_per_s) = (5, 1);
    let rig = Rig::with(config).await;
    let mut statuses = Vec::new();
    for _ in 0..50 {
        let body = "x".repeat(100_000);
        let answer = rig.ask("POST", "/api/v1/records", &[], body).await;
        statuses.push(answer.status);
    }
    assert_eq!(statuses[0], StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        statuses.contains(&StatusCode::TOO_MANY_REQUESTS),
        "{statuses:?}"
    );
    for number in 0..20 {
        rig.ask(&format!("ODD{number}"), "/products", &[], "").await;
    }
    let metrics = rig.get("/metrics").await.text();
    assert!(!metrics.contains("ODD"), "{metrics}");
    let of_others = metrics.lines().filter(|line| line.contains("\"other\""));
    let counts = of_others.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), 20);
}
