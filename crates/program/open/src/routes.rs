//! Pages by their addresses.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cardmark_catalog::publications;
use cardmark_core::Record;
use cardmark_judge::{add_reference_reads, sort_by_start, unreadable_start};
use cardmark_pages::assets::{Asset, ICON, SCRIPT, STYLE};
use cardmark_pages::frame::{Frame, Page, sentence};
use cardmark_pages::pages::choice::{self, ChoicePageQuery};
use cardmark_pages::pages::compare::{self, ComparePageQuery};
use cardmark_pages::pages::fleet;
use cardmark_pages::pages::history::{self, SAMPLE, SIMULATED};
use cardmark_pages::pages::under_way::{self, Work, WorkState};
use cardmark_pages::pages::{boards, compare_products, home, product, published, run, runs};
use cardmark_pages::views::product::ProductsQuery;
use cardmark_pages::views::run::Run;
use cardmark_pages::views::search::SearchQuery;
use cardmark_pages::{addresses, bad_request, not_found};
use cardmark_report::MOST_RUNS;
use cardmark_report::document::Block;
use cardmark_session::{UnderWay, stop_work};
use cardmark_share::Problem;
use cardmark_store::Condition;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::http::{HTML, Method, Request, Response};
use crate::own::{Library, now_s};

/// Seconds after which the page of work under way is read again, without a script.
const LOOK_EVERY_S: &str = "3";
/// Address that stops work.
const STOP: &str = "/under-way/stop";

/// Pages over the own runs.
pub(crate) struct Routes {
    library: Library,
    /// Work that was asked to stop, and its process. It is asked once: a second signal would end it at once.
    stopping: Mutex<BTreeSet<(String, u32)>>,
}

impl Routes {
    pub(crate) fn new(library: Library) -> Self {
        Self {
            library,
            stopping: Mutex::default(),
        }
    }

    /// Answers a request that was admitted.
    pub(crate) fn answer(&self, request: &Request) -> Response {
        let parts = request.parts().unwrap_or_default();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let answer = match (request.method, &parts[..]) {
            (Method::Post, ["under-way", "stop"]) => self.stop(request),
            (Method::Post, _) => return Response::refused(405, "Nothing can be sent here."),
            (_, parts) => self.page(parts, request),
        };
        answer.unwrap_or_else(|problem| problem_page(&problem))
    }

    fn page(&self, parts: &[&str], request: &Request) -> Result<Response, Problem> {
        let library = &self.library;
        let page = match parts {
            ["style.css"] => return Ok(asset(&STYLE)),
            ["script.js"] => return Ok(asset(&SCRIPT)),
            ["icon.svg"] => return Ok(asset(&ICON)),
            ["runs", id, "record"] => {
                let document = library.find(id_of(id)?)?.document;
                return Ok(Response::new(200, "application/json", document));
            }
            ["under-way"] => return self.under_way(),
            [""] => {
                let runs = library.runs();
                let attention = runs.attention.sentence.clone();
                done(home::personal(library, runs.unreadable.clone(), attention))?
            }
            ["runs"] => done(runs::runs(library, query::<SearchQuery>(request)?))?,
            ["runs", id] => done(run::run(library, self.run(id)?, String::new()))?,
            ["compare"] => {
                let asked: ComparePageQuery = query(request)?;
                match asked.is_incomplete() {
                    true => compare::begin(&asked),
                    false if asked.is_of_runs() => done(compare::compare(library, asked))?,
                    false => done(compare_products::compare_products(library, asked))?,
                }
            }
            ["attention"] => library.runs().attention.page(),
            ["fleet"] => {
                let (runs, looks) = library.boards()?;
                fleet::page(&runs, &looks, now_s())
            }
            ["history"] => history::cards(library.select(&[])?),
            ["history", card] => self.history(card)?,
            ["boards"] => done(boards::boards(library, request.parameter("cursor")))?,
            ["boards", board] => done(boards::board(library, (*board).to_owned()))?,
            ["products"] => done(product::products(library, query::<ProductsQuery>(request)?))?,
            ["products", key] => done(product::product(library, key, None, ""))?,
            ["for", wanted @ ..] if wanted.len() < 2 => {
                let asked: ChoicePageQuery = query(request)?;
                let wanted = wanted.first().unwrap_or(&"");
                done(choice::recommended(library, wanted, &asked))?
            }
            ["published"] => published::list(),
            ["published", id] => {
                let found = publications().iter().find(|one| one.id == *id);
                published::publication(found.ok_or_else(nothing)?)
            }
            _ => return Err(nothing()),
        };
        Ok(shown(200, &page))
    }

    fn run(&self, id: &str) -> Result<Run, Problem> {
        let id = id_of(id)?;
        let runs = self.library.runs();
        let found = runs.all.iter().find(|run| run.extract.id == id);
        Ok(Run {
            listed: found.ok_or_else(nothing)?.listed(),
            checks: Vec::new(),
        })
    }

    fn history(&self, card: &str) -> Result<Page, Problem> {
        let mut runs = self.library.select(&conditions(card))?;
        if let Some(run) = unreadable_start(&runs) {
            let detail = format!("the time of run {} is not readable", run.id);
            return Err(bad_request(detail));
        }
        if runs.is_empty() {
            let detail = "there is no run of this card; /history lists the cards that have some";
            return Err(not_found("No such card", detail));
        }
        sort_by_start(&mut runs);
        // A run that cannot be read goes without.
        let document = |run: &Record| Some(self.library.find(run.id).ok()?.record);
        add_reference_reads(&mut runs, &[], MOST_RUNS, document);
        Ok(history::card(card.to_owned(), &runs))
    }

    fn under_way(&self) -> Result<Response, Problem> {
        let all = self.unfinished()?;
        let works = all.into_iter().map(|one| self.work(one)).collect();
        let page = under_way::page(works);
        Ok(shown(200, &page).with("Refresh", LOOK_EVERY_S.to_owned()))
    }

    fn unfinished(&self) -> Result<Vec<UnderWay>, Problem> {
        let all = UnderWay::all(&self.library.data);
        all.map_err(|error| problem(500, "The journals cannot be read", error.to_string()))
    }

    fn work(&self, one: UnderWay) -> Work {
        let nanoseconds = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let name = one.name().map(str::to_owned);
        let named = name.zip(one.process);
        let state = match &named {
            _ if !one.is_live => WorkState::Interrupted,
            Some(named) if self.stopping().contains(named) => WorkState::Stopping,
            named => WorkState::Working {
                worked_ns: one.worked.map(nanoseconds),
                left_ns: one.left.map(nanoseconds),
                stop: named
                    .as_ref()
                    .map(|(name, _)| addresses::with(STOP, &[("work", Some(name.as_str()))])),
            },
        };
        Work {
            job: one.content.head.job.name(),
            target: one.content.head.target,
            record: one.content.record,
            state,
        }
    }

    fn stopping(&self) -> MutexGuard<'_, BTreeSet<(String, u32)>> {
        self.stopping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, request: &Request) -> Result<Response, Problem> {
        let name = request.parameter("work").unwrap_or_default();
        // Held until the signal is sent, so that two clicks are one.
        let mut stopping = self.stopping();
        let all = self.unfinished()?;
        let process = all.iter().find(|one| one.name() == Some(name.as_str()));
        let named = process.and_then(|one| Some((name.clone(), one.process?)));
        if named.as_ref().is_none_or(|named| !stopping.contains(named)) {
            stop_work(&self.library.data, &name).map_err(|error| {
                let detail = error.causes.join("; ");
                problem(422, &sentence(&error.what), detail)
            })?;
            stopping.extend(named);
        }
        Ok(Response::see("/under-way"))
    }
}

/// Conditions for the runs of a card.
fn conditions(card: &str) -> Vec<Condition> {
    let condition = |name: &str, value: &str| Condition {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    if let Some(model) = card.strip_prefix(SIMULATED) {
        return vec![condition("origin", "simulated"), condition("model", model)];
    }
    match card.strip_prefix(SAMPLE) {
        Some(label) => vec![condition("sample", label)],
        None => vec![condition("card", card)],
    }
}

fn id_of(text: &str) -> Result<Uuid, Problem> {
    text.parse().map_err(|_| nothing())
}

fn query<T: DeserializeOwned>(request: &Request) -> Result<T, Problem> {
    request.query().map_err(bad_request)
}

fn nothing() -> Problem {
    not_found("Nothing here", "there is nothing at this address")
}

fn problem(status: u16, title: &str, detail: String) -> Problem {
    Problem {
        status,
        detail,
        ..not_found(title, "")
    }
}

fn problem_page(problem: &Problem) -> Response {
    let blocks = vec![Block::Text(sentence(&problem.detail))];
    let title = problem.title.trim_end_matches('.');
    shown(problem.status, &Page::new(title, title, blocks))
}

fn shown(status: u16, page: &Page) -> Response {
    Response::new(status, HTML, page.html(Frame::Computer))
}

fn asset(asset: &Asset) -> Response {
    Response::new(200, asset.media_type, asset.text.as_str())
}

/// The result of a page over queries in this process, which wait for nothing.
fn done(page: impl Future<Output = Result<Page, Problem>>) -> Result<Page, Problem> {
    match pin!(page).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(page) => page,
        Poll::Pending => Err(problem(500, "Failed", "a query waits".to_owned())),
    }
}
