//! What the store knows of cards.

use cardmark_core::{DeviceInfo, Fill, Preparation};
use cardmark_host::{Resolution, Root, card_identity, device_info};
use cardmark_store::{CardKey, PreparationId, Store};

use crate::data::Data;
use crate::error::CommandError;

/// The history of one card.
pub(crate) struct CardHistory {
    store: Store,
    card: CardKey,
    /// The preparation under way.
    current: Option<PreparationId>,
}

impl CardHistory {
    /// The history of the card that the disk of that name is; none where the card says neither
    /// its CID nor a serial number, so that it cannot be found again.
    pub(crate) fn of(data: &Data, name: &str) -> Result<Option<Self>, CommandError> {
        let mut store = data.open()?;
        let Some(identity) = card_identity(&Root::system(), name) else {
            return Ok(None);
        };
        let card = store.card_key(&identity.history)?;
        Ok(Some(Self {
            store,
            card,
            current: None,
        }))
    }

    /// The preparation that can be continued, which becomes the one under way.
    pub(crate) fn take_up(&mut self, fill: Fill) -> Result<Option<Preparation>, CommandError> {
        let found = self.store.unfinished_preparation(&self.card, fill)?;
        self.current = found.as_ref().map(|(id, _)| *id);
        Ok(found.map(|(_, preparation)| preparation))
    }

    /// Notes a new preparation, which becomes the one under way.
    pub(crate) fn begin(&mut self, preparation: &Preparation) -> Result<(), CommandError> {
        self.current = Some(self.store.begin_preparation(&self.card, preparation)?);
        Ok(())
    }

    /// Notes how much of the one under way is durable, and when it was finished, where it is.
    pub(crate) fn note(&mut self, preparation: &Preparation) -> Result<(), CommandError> {
        let Some(id) = self.current else {
            return Ok(());
        };
        match &preparation.finished_at {
            Some(at) => self.store.finish_preparation(id, at)?,
            None => self.store.note_progress(id, preparation.done_bytes)?,
        }
        Ok(())
    }

    /// Takes the one under way back: the card was not changed.
    pub(crate) fn take_back(&mut self) -> Result<(), CommandError> {
        match self.current.take() {
            Some(id) => Ok(self.store.forget_preparation(id)?),
            None => Ok(()),
        }
    }
}

/// The devices below a target, each with its last preparation. A loop device on the way is named
/// too where it was prepared itself: what lies below it was not.
pub(crate) fn devices(
    resolution: &Resolution,
    data: &Data,
) -> Result<Vec<DeviceInfo>, CommandError> {
    let root = Root::system();
    let mut store = data.open()?;
    let mut last = |name: &str| -> Result<Option<Preparation>, CommandError> {
        let Some(identity) = card_identity(&root, name) else {
            return Ok(None);
        };
        let card = store.card_key(&identity.history)?;
        Ok(store.last_preparation(&card)?)
    };
    let mut devices = Vec::new();
    let loops = resolution
        .layers
        .iter()
        .filter(|layer| layer.kind == "loop");
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
