//! The part of backplane.h that a manager with wires and state needs, in Rust. The header explains the declarations.

#![allow(non_camel_case_types, dead_code)]

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

pub const BP_ABI: u32 = 0;

pub const BP_OK: i32 = 0;
pub const BP_FAILED: i32 = 1;
pub const BP_INVALID_INPUT: i32 = 2;
pub const BP_UNIMPLEMENTED: i32 = 3;
pub const BP_CANCELLED: i32 = 4;

pub const BP_MANAGER: u32 = 1;
pub const BP_ASYNC: u32 = 0;
pub const BP_SYNC: u32 = 1;
pub const BP_WIRE_OPTIONAL: u32 = 1;

pub type bp_done = extern "C" fn(*mut c_void, i32, bp_bytes);
pub type bp_created = extern "C" fn(*mut c_void, i32, *mut c_void, bp_bytes);
pub type bp_create = extern "C" fn(*mut c_void, *const bp_creation, bp_created, *mut c_void);
pub type bp_step = extern "C" fn(*mut c_void, bp_done, *mut c_void);
pub type bp_release = extern "C" fn(*mut c_void);
pub type bp_invoke = extern "C" fn(*mut c_void, u32, bp_bytes, *const bp_call, u64, bp_done, *mut c_void);
pub type bp_cancel = extern "C" fn(*mut c_void, u64);
pub type bp_review = extern "C" fn(*mut c_void, bp_bytes, bp_done, *mut c_void);
pub type bp_export = extern "C" fn(*mut c_void, u32, bp_done, *mut c_void);
pub type bp_import = extern "C" fn(*mut c_void, u32, bp_bytes, bp_done, *mut c_void);
pub type bp_get_interface = extern "C" fn(bp_bytes, u32) -> *const c_void;

/// Declares structs with C's layout, and the table of their fields, which the host compares with its own table.
macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $(pub $field: $type),* }
        )*
        pub static LAYOUT: &[bp_field] = &[$($(bp_field {
            name: concat!(stringify!($name), ".", stringify!($field), "\0").as_ptr().cast(),
            offset: offset_of!($name, $field) as u32,
            size: size_of::<$type>() as u32,
        }),*),*];
    };
}

structs! {
    bp_bytes { data: *const u8, length: usize }
    bp_call { size: u32, flags: u32, deadline_ns: i64, path: [u16; 8], trace: [u8; 32] }
    bp_method { size: u32, kind: u32, name: bp_bytes }
    bp_wire {
        size: u32, flags: u32, label: bp_bytes, contract: bp_bytes, contract_version: bp_bytes, methods: *const bp_method,
        method_count: usize, lane: *const c_void,
    }
    bp_connection { size: u32, reserved: u32, label: bp_bytes, wire: u64, slot: *mut c_void }
    bp_creation {
        size: u32, number: u32, handle: u64, configuration: bp_bytes, folder: bp_bytes, wires: *const bp_connection,
        wire_count: usize, resources: bp_bytes,
    }
    bp_state {
        size: u32, version: u32, schema: bp_bytes, accepts_min: u32, accepts_max: u32, writes_min: u32, reserved: u32,
        export_state: Option<bp_export>, import_state: Option<bp_import>, lane: *const c_void,
    }
    bp_component {
        size: u32, role: u32, class_name: bp_bytes, version: bp_bytes, contract: bp_bytes, contract_version: bp_bytes,
        methods: *const bp_method, method_count: usize, wires: *const bp_wire, wire_count: usize,
        class: *mut c_void, // `type`, a keyword in Rust; the host compares only fields whose names it knows
        create: Option<bp_create>, activate: Option<bp_step>, suspend: Option<bp_step>, resume: Option<bp_step>,
        stop: Option<bp_step>, release: Option<bp_release>, call: Option<bp_invoke>, cancel: Option<bp_cancel>,
        lane: *const c_void, review: Option<bp_review>, traits: u32, reserved: u32, state: *const bp_state,
        health: Option<bp_step>,
    }
    bp_calls_1 {
        size: u32, reserved: u32,
        call: extern "C" fn(u64, u64, u32, bp_bytes, *const bp_call, bp_done, *mut c_void) -> u64,
        cancel: extern "C" fn(u64, u64),
    }
    bp_offer {
        size: u32, abi_min: u32, abi_max: u32, lane_revision: u32, host_version: bp_bytes, toolchain: bp_bytes,
        get_interface: bp_get_interface,
    }
    bp_field { name: *const c_char, offset: u32, size: u32 }
    bp_self_check { layout_hash: u64, fields: *const bp_field, field_count: usize }
    bp_answer {
        size: u32, abi: u32, lane_revision: u32, reserved: u32, id: bp_bytes, version: bp_bytes, toolchain: bp_bytes,
        components: *const bp_component, component_count: usize, problems: bp_bytes, self_check: bp_self_check,
    }
    bp_identity {
        magic: [u8; 8], size: u32, abi_min: u32, abi_max: u32, swift: u32, sdk: [u8; 32], toolchain: [u8; 160],
        id: [u8; 72], version: [u8; 32],
    }
}

// They point to constant data that lives as long as the process.
unsafe impl Sync for bp_field {}
unsafe impl Sync for bp_method {}
unsafe impl Sync for bp_wire {}
unsafe impl Sync for bp_state {}
unsafe impl Sync for bp_component {}

impl bp_bytes {
    pub const fn of(text: &str) -> bp_bytes {
        bp_bytes { data: text.as_ptr(), length: text.len() }
    }

    /// # Safety
    /// The bytes are borrowed, and invalid when the function that received them returns.
    pub unsafe fn lent<'a>(self) -> &'a [u8] {
        if self.length == 0 { &[] } else { std::slice::from_raw_parts(self.data, self.length) }
    }
}

/// The content of the section `backplane`, aligned as in part 5 of the header.
#[repr(C, align(8))]
pub struct Record(pub bp_identity);

impl bp_identity {
    pub const fn of(id: &str, version: &str) -> bp_identity {
        bp_identity {
            magic: *b"BACKPLNE", size: size_of::<bp_identity>() as u32, abi_min: BP_ABI, abi_max: BP_ABI, swift: 0,
            sdk: [0; 32], toolchain: padded("rustc"), id: padded(id), version: padded(version),
        }
    }
}

const fn padded<const SIZE: usize>(text: &str) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    let mut place = 0;
    while place < text.len() {
        bytes[place] = text.as_bytes()[place];
        place += 1;
    }
    bytes
}

/// The self-check of part 6: the table, and FNV-1a over it.
pub fn check_self() -> bp_self_check {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for field in LAYOUT {
        let name = unsafe { std::ffi::CStr::from_ptr(field.name) }.to_bytes_with_nul();
        for byte in name.iter().chain(&field.offset.to_le_bytes()).chain(&field.size.to_le_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
    bp_self_check {
        layout_hash: hash,
        fields: LAYOUT.as_ptr(),
        field_count: LAYOUT.len(),
    }
}
