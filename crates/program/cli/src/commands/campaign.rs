//! `cardmark campaign`.

use cardmark_campaign::{Campaign, CampaignRequest, EXAMPLE, Folder, measure, plan};
use cardmark_session::Data;

use crate::args::CampaignArguments;
use crate::commands::report;
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;
use crate::terminal::print;

/// Measures what is left of a campaign on this computer, and reports on all of it.
pub(crate) fn campaign(arguments: &CampaignArguments) -> Result<Exit, CommandError> {
    let Some(file) = arguments.file.as_deref().filter(|_| !arguments.example) else {
        print::data(EXAMPLE)?;
        return Ok(Exit::Done);
    };
    let campaign = Campaign::read(file)?;
    let folder = Folder::of(file)?;
    if arguments.plan {
        print::result(&plan(&campaign, &folder.done(&campaign.title)?))?;
        return Ok(Exit::Done);
    }
    report::check_pages(folder.path())?;
    let mut exit = Exit::Done;
    if !arguments.report {
        let data = Data::from_environment()?;
        let request = CampaignRequest {
            file,
            board: arguments.board.as_deref(),
            device_serial: arguments.consent.given().device_serial,
            timeout_s: arguments.timeout,
            voice: &TERMINAL,
            data: &data,
        };
        exit = measure(&campaign, &folder, &request)?;
    }
    if !matches!(exit, Exit::Interrupted | Exit::Terminated) {
        report_on(&campaign, &folder)?;
    }
    Ok(exit)
}

/// The report on all runs there are, in the campaign's folder.
fn report_on(campaign: &Campaign, folder: &Folder) -> Result<(), CommandError> {
    let records = folder.records_of(&campaign.title)?;
    if records.is_empty() {
        print::notice("nothing was measured yet");
        return Ok(());
    }
    let page = report::write_all(&campaign.title, &records, folder.path())?;
    print::notice(&format!("report: {}", page.display()));
    Ok(())
}
