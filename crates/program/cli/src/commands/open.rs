//! `cardmark open`.

use std::path::Path;

use cardmark_open::{Launch, Server};
use cardmark_session::{Data, Signals};

use crate::args::OpenArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Shows own runs in the browser until a signal arrives.
pub(crate) fn open(arguments: &OpenArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    let folder = data.database.parent().unwrap_or(Path::new("/")).to_owned();
    let signals = Signals::heed().map_err(|error| {
        CommandError::new(Exit::Trouble, "cannot heed signals").because(error.to_string())
    })?;
    let server = Server::start(data, arguments.stores.clone(), arguments.port)?;
    let address = server.address();
    print::result(&format!("{address}\n"))?;
    print::notice("This address is for you alone, until Ctrl-C ends it.");
    if std::env::var_os("SSH_CONNECTION").is_some() {
        let port = server.port();
        print::notice(&format!(
            "From your own computer: `ssh -L {port}:127.0.0.1:{port} THIS-BOARD`, and open the address there."
        ));
    }
    let launch =
        (!arguments.no_browser && Launch::is_possible()).then(|| Launch::open(&address, &folder));
    if let Some(Err(error)) = &launch {
        print::notice(&format!("No browser was opened: {error}."));
    }
    server.serve(&signals);
    Ok(Exit::Done)
}
