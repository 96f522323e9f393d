//! `none`: decodes and encodes photos without treating faces.

use facedp_nets::Workspace;

use super::{Face, MethodInfo, Needs, Treated, Treatment};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::photo::Untreated;
use crate::receipt::Terms;
use crate::request::Request;

pub(super) const INFO: MethodInfo =
    MethodInfo { settings: &[], randomness: None, published_unseen: false, activity: "recoding" };

pub(super) struct Untouched;

impl Untouched {
    pub(super) fn new(request: &Request) -> Result<Self> {
        if request.receipt {
            return Err(Error::Setting { setting: "receipt", of: request.method.to_string() });
        }
        Ok(Self)
    }
}

impl Treatment for Untouched {
    fn fingerprint(&self) -> String {
        "none".to_owned()
    }

    fn terms(&self) -> Option<Terms> {
        None
    }

    fn needs(&self) -> Needs {
        Needs { faces: false, landmarks: false, reference: false, min_width: 0.0 }
    }

    fn treat(
        &self,
        original: Untreated,
        _faces: &[Face],
        _control: Control<'_>,
        _work: &mut Workspace,
    ) -> Result<Treated> {
        Ok(Treated { photo: original.into_photo(), faces: Vec::new(), changed: false, spent: None })
    }
}
