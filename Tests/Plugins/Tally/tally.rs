//! A plugin in Rust without crates: a tally with methods that wait.
//!
//!     rustc --edition 2021 --crate-type cdylib -O -o libTally.so tally.rs

mod backplane;

use backplane::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

// `used` keeps the record although no code refers to it.
#[used]
#[link_section = "backplane"]
static IDENTITY: Record = Record(bp_identity::of("org.example.tally", "1.0.0"));

/// The host's table for calls of collaborators.
static CALLS: OnceLock<&'static bp_calls_1> = OnceLock::new();

// ------------------------------------------------------------------------------------------------------ answers

/// The error of a call or a step.
struct Failure(i32, String);

/// An answer that the host waits for. It is given once: by `end`, or when the reply is dropped, as by a panic.
struct Reply {
    done: bp_done,
    context: *mut c_void,
}

// The context belongs to the host. It is only passed back, which is allowed on any thread.
unsafe impl Send for Reply {}

impl Reply {
    fn end(self, result: Result<String, Failure>) {
        let (status, text) = match &result {
            Ok(json) => (BP_OK, json),
            Err(Failure(status, message)) => (*status, message),
        };
        (self.done)(self.context, status, bp_bytes::of(text));
        std::mem::forget(self);
    }

    /// Runs `body`, which ends the reply. A panic must not cross the boundary, because it would end the process.
    fn after(self, body: impl FnOnce(Reply)) {
        _ = catch_unwind(AssertUnwindSafe(|| body(self)));
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        (self.done)(self.context, BP_FAILED, bp_bytes::of("the tally has no answer"));
    }
}

// ---------------------------------------------------------------------------------------------------- the tally

/// An instance. Calls in progress also hold it, so that `release` may come at any time after an answer.
struct Tally {
    handle: u64,
    other: Option<u64>, // a wire
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    total: u64,
    under_way: HashMap<u64, Pending>,
}

/// A call that is not answered yet.
#[derive(Default)]
struct Pending {
    is_cancelled: bool,
    passed_on: u64, // the forwarded call, or 0 for none
}

impl Tally {
    // Never held while the host is called, because the host may call back on this thread.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, number: u64) -> String {
        let mut state = self.state();
        state.total += number;
        state.total.to_string()
    }

    /// Answers after a duration, on a new thread, or when the call is cancelled.
    fn wait(self: Arc<Self>, duration: Duration, id: u64, reply: Reply) {
        self.state().under_way.insert(id, Pending::default());
        let until = Instant::now() + duration;
        // If no thread can be created, the closure is dropped together with the reply, which thereby ends.
        _ = std::thread::Builder::new().spawn(move || {
            let mut state = self.state();
            let cancelled = loop {
                let left = until.saturating_duration_since(Instant::now());
                let is_cancelled = state.under_way.get(&id).is_none_or(|call| call.is_cancelled);
                if is_cancelled || left.is_zero() {
                    break is_cancelled;
                }
                state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            };
            state.under_way.remove(&id);
            let total = state.total.to_string();
            drop(state);
            reply.end(if cancelled { Err(Failure(BP_CANCELLED, "the wait is over".into())) } else { Ok(total) });
        });
    }

    /// Forwards the call to the other tally, with the frame of this call, so that path, deadline and trace continue.
    fn wait_elsewhere(self: Arc<Self>, input: bp_bytes, frame: *const bp_call, id: u64, reply: Reply) {
        let (Some(calls), Some(wire)) = (CALLS.get(), self.other) else {
            return reply.end(Err(Failure(BP_FAILED, "there is no other tally".into())));
        };
        self.state().under_way.insert(id, Pending::default());
        let asker = Box::new((self.clone(), id, reply));
        let call = (calls.call)(self.handle, wire, 0, input, frame, answered, Box::into_raw(asker).cast());
        // In the meantime, the call may have been answered and removed, or cancelled.
        let is_cancelled = match self.state().under_way.get_mut(&id) {
            Some(pending) => {
                pending.passed_on = call;
                pending.is_cancelled
            }
            None => false,
        };
        if is_cancelled {
            (calls.cancel)(self.handle, call);
        }
    }

    /// Wakes the waiting thread, or forwards the cancellation. An unknown call has ended or has not begun.
    fn cancel(&self, id: u64) {
        let mut state = self.state();
        let Some(pending) = state.under_way.get_mut(&id) else { return };
        pending.is_cancelled = true;
        let call = pending.passed_on;
        drop(state);
        self.changed.notify_all();
        if let (Some(calls), true) = (CALLS.get(), call != 0) {
            (calls.cancel)(self.handle, call);
        }
    }
}

/// Answers the call with the answer of the other tally.
extern "C" fn answered(context: *mut c_void, status: i32, payload: bp_bytes) {
    let (tally, id, reply) = *unsafe { Box::from_raw(context.cast::<(Arc<Tally>, u64, Reply)>()) };
    reply.after(|reply| {
        tally.state().under_way.remove(&id);
        let text = String::from_utf8_lossy(unsafe { payload.lent() }).into_owned();
        reply.end(if status == BP_OK { Ok(text) } else { Err(Failure(status, text)) });
    });
}

// ------------------------------------------------------------------------------------------------------- inputs

/// Returns the whole number in a JSON text. The input has not been checked and may be anything.
fn number(input: &[u8], method: &str) -> Result<u64, Failure> {
    let text = std::str::from_utf8(input).unwrap_or("").trim_matches([' ', '\t', '\n', '\r']);
    let is_number = !text.is_empty() && text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_number && (text == "0" || !text.starts_with('0')) => Ok(number),
        _ => Err(Failure(BP_INVALID_INPUT, format!("`{method}` takes a whole number from 0 to 999999"))),
    }
}

fn nothing(input: &[u8], method: &str) -> Result<(), Failure> {
    if input == b"null" {
        return Ok(());
    }
    Err(Failure(BP_INVALID_INPUT, format!("`{method}` takes null")))
}

// ------------------------------------------------------------------------------------ functions for the host

/// Returns the instance behind a pointer from `create`.
fn tally(instance: *mut c_void) -> Arc<Tally> {
    let pointer = instance.cast_const().cast::<Tally>();
    unsafe {
        Arc::increment_strong_count(pointer);
        Arc::from_raw(pointer)
    }
}

extern "C" fn create(_: *mut c_void, creation: *const bp_creation, done: bp_created, context: *mut c_void) {
    let creation = unsafe { &*creation };
    let mut other = None;
    let mut place = creation.wires;
    for _ in 0..creation.wire_count {
        let wire = unsafe { &*place };
        if unsafe { wire.label.lent() } == b"other" {
            other = Some(wire.wire);
        }
        // Advance by the host's size of the struct, which may differ from ours.
        place = unsafe { place.byte_add((*creation.wires).size as usize) };
    }
    let state = Mutex::new(State { total: 0, under_way: HashMap::new() });
    let made = Arc::new(Tally { handle: creation.handle, other, state, changed: Condvar::new() });
    done(context, BP_OK, Arc::into_raw(made).cast_mut().cast(), bp_bytes::of(""));
}

extern "C" fn release(instance: *mut c_void) {
    drop(unsafe { Arc::from_raw(instance.cast_const().cast::<Tally>()) });
}

extern "C" fn call(
    instance: *mut c_void, method: u32, input: bp_bytes, frame: *const bp_call, id: u64, done: bp_done, context: *mut c_void,
) {
    let tally = tally(instance);
    let bytes = unsafe { input.lent() };
    Reply { done, context }.after(|reply| match method {
        0 => match number(bytes, "wait") {
            Ok(milliseconds) => tally.wait(Duration::from_millis(milliseconds), id, reply),
            Err(failure) => reply.end(Err(failure)),
        },
        1 => reply.end(number(bytes, "add").map(|number| tally.add(number))),
        2 => reply.end(nothing(bytes, "total").map(|_| tally.state().total.to_string())),
        3 => match number(bytes, "waitElsewhere") {
            Ok(_) => tally.wait_elsewhere(input, frame, id, reply),
            Err(failure) => reply.end(Err(failure)),
        },
        _ => reply.end(Err(Failure(BP_UNIMPLEMENTED, "a tally has four methods".into()))),
    });
}

extern "C" fn cancel(instance: *mut c_void, id: u64) {
    _ = catch_unwind(AssertUnwindSafe(|| tally(instance).cancel(id)));
}

extern "C" fn export_state(instance: *mut c_void, _version: u32, done: bp_done, context: *mut c_void) {
    let tally = tally(instance);
    Reply { done, context }.after(|reply| reply.end(Ok(tally.state().total.to_string())));
}

extern "C" fn import_state(instance: *mut c_void, _version: u32, state: bp_bytes, done: bp_done, context: *mut c_void) {
    let tally = tally(instance);
    let bytes = unsafe { state.lent() };
    Reply { done, context }.after(|reply| {
        let total = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
        reply.end(match total {
            Some(total) => {
                tally.state().total = total;
                Ok(String::new())
            }
            None => Err(Failure(BP_FAILED, "that is not the state of a tally".into())),
        });
    });
}

// -------------------------------------------------------------------------------------------------- descriptors

static METHODS: [bp_method; 4] = [
    method(BP_ASYNC, "wait"),          // milliseconds -> the total by then
    method(BP_ASYNC, "add"),           // a number -> the total
    method(BP_SYNC, "total"),          // null -> the total
    method(BP_ASYNC, "waitElsewhere"), // milliseconds -> the total of the other tally by then
];

const fn method(kind: u32, name: &str) -> bp_method {
    bp_method { size: size_of::<bp_method>() as u32, kind, name: bp_bytes::of(name) }
}

static WIRES: [bp_wire; 1] = [bp_wire {
    size: size_of::<bp_wire>() as u32,
    flags: BP_WIRE_OPTIONAL,
    label: bp_bytes::of("other"),
    contract: bp_bytes::of("Tally"),
    contract_version: bp_bytes::of("1.0.0"),
    methods: METHODS.as_ptr(),
    method_count: 1,
    lane: null(),
}];

static STATE: bp_state = bp_state {
    size: size_of::<bp_state>() as u32,
    version: 1,
    schema: bp_bytes::of("tally"),
    accepts_min: 1,
    accepts_max: 1,
    writes_min: 1,
    reserved: 0,
    export_state: Some(export_state),
    import_state: Some(import_state),
    lane: null(),
};

static COMPONENTS: [bp_component; 1] = [bp_component {
    size: size_of::<bp_component>() as u32,
    role: BP_MANAGER,
    class_name: bp_bytes::of("Tally"),
    version: bp_bytes::of("1.0.0"),
    contract: bp_bytes::of("Tally"),
    contract_version: bp_bytes::of("1.0.0"),
    methods: METHODS.as_ptr(),
    method_count: METHODS.len(),
    wires: WIRES.as_ptr(),
    wire_count: WIRES.len(),
    class: null_mut(),
    create: Some(create),
    activate: None,
    suspend: None,
    resume: None,
    stop: None,
    release: Some(release),
    call: Some(call),
    cancel: Some(cancel),
    lane: null(),
    review: None,
    traits: 0,
    reserved: 0,
    state: &STATE,
    health: None,
}];

/// # Safety
/// Only the host may call this function, with an offer and an answer of the sizes that they state.
#[no_mangle]
pub unsafe extern "C" fn backplane_plugin_entry_v1(offer: *const bp_offer, answer: *mut bp_answer) -> i32 {
    let offer = &*offer;
    if offer.abi_min > BP_ABI || offer.abi_max < BP_ABI {
        return BP_UNIMPLEMENTED;
    }
    if let Some(calls) = (offer.get_interface)(bp_bytes::of("backplane.calls"), 1).cast::<bp_calls_1>().as_ref() {
        _ = CALLS.set(calls);
    }
    let mut own = bp_answer {
        size: size_of::<bp_answer>() as u32,
        abi: BP_ABI,
        lane_revision: 0,
        reserved: 0,
        id: bp_bytes::of("org.example.tally"),
        version: bp_bytes::of("1.0.0"),
        toolchain: bp_bytes::of("rustc"),
        components: COMPONENTS.as_ptr(),
        component_count: COMPONENTS.len(),
        problems: bp_bytes::of(""),
        self_check: check_self(),
    };
    own.size = own.size.min((*answer).size);
    std::ptr::copy_nonoverlapping((&raw const own).cast::<u8>(), answer.cast::<u8>(), own.size as usize);
    BP_OK
}
