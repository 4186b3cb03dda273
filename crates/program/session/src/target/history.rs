//! History of cards in the store.

use cardmark_core::{DeviceInfo, Fill, LayerKind, Preparation};
use cardmark_host::{Resolution, Root, card_identity, device_info};
use cardmark_store::{CardKey, JobKind, PreparationId, Store};
use serde::{Deserialize, Serialize};

use crate::data::Data;
use crate::data::unfinished::{Unfinished, journal_name};
use crate::error::CommandError;

/// State of a preparation that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// Its number in the card's history; none if the card cannot be recognised.
    pub id: Option<PreparationId>,
    /// The preparation with its durable part.
    pub preparation: Preparation,
    /// Random id of the mark on the device while it is filled; none if its content identifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<u64>,
}

/// The history of one card.
pub struct CardHistory {
    store: Store,
    card: CardKey,
}

impl CardHistory {
    /// Returns the history of the card that is the disk of that name; none if the card shows neither its CID
    /// nor a serial number, so that it cannot be recognised.
    pub fn of(data: &Data, name: &str) -> Result<Option<Self>, CommandError> {
        let mut store = data.open()?;
        let Some(identity) = card_identity(&Root::system(), name) else {
            return Ok(None);
        };
        let card = store.card_key(&identity.history)?;
        Ok(Some(Self { store, card }))
    }

    /// Name of the journal of its preparation.
    pub fn journal_name(&self) -> String {
        journal_name(&self.card.name(), JobKind::Prepare)
    }

    /// Returns the preparation that can continue: the last one of this card, if it has that fill.
    pub fn unfinished(
        &mut self,
        data: &Data,
        fill: Fill,
    ) -> Result<Option<Unfinished<Prepared>>, CommandError> {
        let last = self.store.unfinished_preparation(&self.card, fill)?;
        let Some((last, _)) = last else {
            return Ok(None);
        };
        let begun = data.unfinished::<Prepared>(&self.journal_name())?;
        Ok(begun.filter(|begun| begun.state.id == Some(last)))
    }

    /// Notes a new preparation.
    pub fn begin(&mut self, preparation: &Preparation) -> Result<PreparationId, CommandError> {
        Ok(self.store.begin_preparation(&self.card, preparation)?)
    }

    /// Notes how much of a preparation is durable, and its end.
    pub fn note(
        &mut self,
        id: PreparationId,
        preparation: &Preparation,
    ) -> Result<(), CommandError> {
        match &preparation.finished_at {
            Some(at) => self.store.finish_preparation(id, at)?,
            None => self.store.note_progress(id, preparation.done_bytes)?,
        }
        Ok(())
    }

    /// Removes a preparation that did not change the card.
    pub fn take_back(&mut self, id: PreparationId) -> Result<(), CommandError> {
        Ok(self.store.forget_preparation(id)?)
    }
}

/// Returns the last preparation of a card. If its process was killed, its journal knows more than the store.
fn last_preparation(
    data: &Data,
    store: &mut Store,
    card: &CardKey,
) -> Result<Option<Preparation>, CommandError> {
    let Some((id, preparation)) = store.last_preparation(card)? else {
        return Ok(None);
    };
    let name = journal_name(&card.name(), JobKind::Prepare);
    let journal = data.last_state::<Prepared>(&name);
    let newer = journal.filter(|state| state.id == Some(id) && preparation.finished_at.is_none());
    Ok(Some(newer.map_or(preparation, |state| state.preparation)))
}

/// The devices below a target, each with its last preparation. A loop device on the way is named
/// too where it was prepared itself: what lies below it was not.
pub fn devices(resolution: &Resolution, data: &Data) -> Result<Vec<DeviceInfo>, CommandError> {
    let root = Root::system();
    let mut store = data.open()?;
    let mut last = |name: &str| -> Result<Option<Preparation>, CommandError> {
        let Some(identity) = card_identity(&root, name) else {
            return Ok(None);
        };
        let card = store.card_key(&identity.history)?;
        last_preparation(data, &mut store, &card)
    };
    let mut devices = Vec::new();
    let loops = resolution
        .layers
        .iter()
        .filter(|layer| layer.kind == LayerKind::Loop);
    for name in loops.filter_map(|layer| layer.device.as_deref()) {
        let is_lowest = resolution.disks.iter().any(|disk| disk.name == name);
        if let Some(prepared) = last(name)?.filter(|_| !is_lowest) {
            devices.push(DeviceInfo {
                prepared: Some(prepared),
                ..device_info(&root, name)
            });
        }
    }
    for disk in &resolution.disks {
        devices.push(DeviceInfo {
            prepared: last(&disk.name)?,
            ..disk.clone()
        });
    }
    Ok(devices)
}
