//! A site with an account of a moderator, and the moderator's browser.

use axum::http::StatusCode;
use cardmark_site::{Config, NewAccount, add_account, code_at};
use uuid::Uuid;

use crate::rig::{Answer, Rig, config};

pub(crate) const PASSWORD: &str = "a long pass phrase";
const HOST: &str = "cards.example";
pub(crate) const ORIGIN: &str = "http://cards.example";
const BOUNDARY: &str = "multipart/form-data; boundary=of-this-test";

/// A site with an account.
pub(crate) struct Desk {
    pub(crate) rig: Rig,
    pub(crate) account: NewAccount,
}

/// A browser: its cookie, and the token of its forms.
#[derive(Clone)]
pub(crate) struct Browser {
    pub(crate) cookie: String,
    pub(crate) token: String,
}

fn form(fields: &[(&str, &str)]) -> String {
    let part = |(name, value): &(&str, &str)| {
        format!(
            "--of-this-test\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        )
    };
    fields.iter().map(part).collect::<String>() + "--of-this-test--\r\n"
}

pub(crate) fn now_s() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// The value of a hidden field.
fn hidden(page: &str, name: &str) -> String {
    let field = format!("type=\"hidden\" name=\"{name}\" value=\"");
    let rest = page
        .split(&field)
        .nth(1)
        .unwrap_or_else(|| panic!("{page}"));
    rest.split('"').next().unwrap().to_owned()
}

impl Desk {
    pub(crate) async fn new() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        let rig = Rig::with(config).await;
        let account = add_account(&rig.store, "anna", PASSWORD).await.unwrap();
        Self { rig, account }
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Answer {
        let all = [("content-type", BOUNDARY), ("host", HOST)];
        let all = [&all, headers].concat();
        self.rig.ask("POST", path, &all, form(fields)).await
    }

    /// Signs in with a code of the present step, or of one beside it.
    pub(crate) async fn sign_in_as(
        &self,
        account: &NewAccount,
        step: i64,
        headers: &[(&str, &str)],
    ) -> Answer {
        let code = code_at(&account.secret, now_s() + 30 * step);
        let fields = [
            ("name", &*account.name),
            ("password", PASSWORD),
            ("code", &*code),
        ];
        let headers = [&[("origin", ORIGIN)], headers].concat();
        self.post("/sign-in", &headers, &fields).await
    }

    pub(crate) async fn sign_in(&self) -> Browser {
        let answer = self.sign_in_as(&self.account, 0, &[]).await;
        self.browser(&answer).await
    }

    pub(crate) async fn browser(&self, answer: &Answer) -> Browser {
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
        let cookie = cookie(answer);
        let page = self.get("/moderation", &cookie).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text());
        let token = hidden(&page.text(), "token");
        Browser { cookie, token }
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> Answer {
        let headers = [("cookie", cookie), ("host", HOST)];
        self.rig.ask("GET", path, &headers, "").await
    }

    /// Sends a form of a page of moderators.
    pub(crate) async fn send(
        &self,
        browser: &Browser,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let headers = [("origin", ORIGIN), ("cookie", &*browser.cookie)];
        let fields = [fields, &[("token", &*browser.token)]].concat();
        self.post(path, &headers, &fields).await
    }

    /// Decides, and waits until it is applied.
    pub(crate) async fn decide(&self, browser: &Browser, fields: &[(&str, &str)]) {
        let fields = [fields, &[("reason", "a reason")]].concat();
        let answer = self.send(browser, "/moderation/act", &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
        self.rig.store.apply_all().await.unwrap();
    }

    pub(crate) async fn state(&self, id: Uuid) -> (String, Option<i64>) {
        let path = format!("/api/v1/records/{id}/state");
        let state = self.rig.get(&path).await.json();
        let state_name = state["state"].as_str().unwrap().to_owned();
        (state_name, state["decided_by"].as_i64())
    }
}

/// The cookie of an answer as a browser sends it back.
pub(crate) fn cookie(answer: &Answer) -> String {
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}
