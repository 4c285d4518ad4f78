import CBackplane
import Foundation

@testable import Backplane

/// All that a host and a Swift plugin of one lane revision must agree on, as a text whose first line is the revision.
struct LaneRecord: Equatable {
    var revision: UInt32
    /// A line for each.
    var layouts: [String]

    /// As this program was compiled.
    static var current: LaneRecord {
        LaneRecord(revision: BP_LANE_REVISION, layouts: structs + cells + types)
    }

    init(revision: UInt32, layouts: [String]) { (self.revision, self.layouts) = (revision, layouts) }

    /// Reads a text; `nil` when it does not begin with a revision.
    init?(text: String) {
        var lines = text.split(separator: "\n").map(String.init)
        guard let first = lines.first, first.hasPrefix("revision "), let revision = UInt32(first.dropFirst(9)) else {
            return nil
        }
        lines.removeFirst()
        self.init(revision: revision, layouts: lines)
    }

    var text: String { (["revision \(revision)"] + layouts).joined(separator: "\n") + "\n" }
}

/// What is to be done about a record that was kept and how things are now.
enum LaneVerdict: Equatable {
    case same
    /// Layouts changed, and the revision did not.
    case raiseTheRevision([String])
    /// The revision was raised: the record may be recreated.
    case record
    /// Nothing readable was kept, or something of a later revision: to be fetched back, not recreated.
    case restore

    init(kept: String?, now: LaneRecord) {
        guard let kept = kept.flatMap(LaneRecord.init(text:)), kept.revision <= now.revision else {
            self = .restore
            return
        }
        if kept == now {
            self = .same
            return
        }
        guard kept.revision == now.revision else {
            self = .record
            return
        }
        let gone = kept.layouts.filter { !now.layouts.contains($0) }.map { "- \($0)" }
        let new = now.layouts.filter { !kept.layouts.contains($0) }.map { "+ \($0)" }
        self = .raiseTheRevision(gone + new)
    }
}

extension LaneRecord {
    private static func field<Root, Value>(_ path: KeyPath<Root, Value>, _ name: String) -> String {
        "\(Root.self).\(name) at \(MemoryLayout<Root>.offset(of: path).map(String.init) ?? "?"), \(MemoryLayout<Value>.size) bytes: \(spelled(Value.self))"
    }

    /// An array of C, which is a long tuple here, as what it is.
    private static func spelled(_ type: Any.Type) -> String {
        let text = "\(type)", elements = text.dropFirst().dropLast().components(separatedBy: ", ")
        guard text.hasPrefix("("), let first = elements.first, elements.count > 1, elements.allSatisfy({ $0 == first })
        else { return text }
        return "\(elements.count) of \(first)"
    }

    private static func size<Value: ~Copyable>(_ name: String, _: Value.Type) -> String {
        "\(name): \(MemoryLayout<Value>.size) bytes, aligned to \(MemoryLayout<Value>.alignment)"
    }

    /// The structs of lease.h, and the call frame.
    private static var structs: [String] {
        [
            size("bp_slot", bp_slot.self), field(\bp_slot.binding, "binding"), field(\bp_slot.number, "number"),
            field(\bp_slot.reserved, "reserved"), field(\bp_slot.gate, "gate"),
            size("bp_binding", bp_binding.self), field(\bp_binding.cells, "cells"),
            field(\bp_binding.last_stripe, "last_stripe"),
            field(\bp_binding.restartable, "restartable"), field(\bp_binding.provider, "provider"),
            field(\bp_binding.padding, "padding"),
            size("bp_stripe", bp_stripe.self), field(\bp_stripe.entered, "entered"), field(\bp_stripe.left, "left"),
            field(\bp_stripe.entered_atomic, "entered_atomic"), field(\bp_stripe.left_atomic, "left_atomic"),
            field(\bp_stripe.padding, "padding"),
            size("bp_gate", bp_gate.self), field(\bp_gate.owner, "owner"), field(\bp_gate.wait, "wait"),
            field(\bp_gate.cancel, "cancel"),
            field(\bp_gate.admit_now, "admit_now"),
            size("bp_provider", bp_provider.self), field(\bp_provider.target, "target"),
            field(\bp_provider.methods, "methods"),
            field(\bp_provider.method_count, "method_count"), field(\bp_provider.call, "call"),
            field(\bp_provider.cancel, "cancel"), field(\bp_provider.open, "open"),
            field(\bp_provider.next, "next"), field(\bp_provider.close, "close"),
            field(\bp_provider.opened, "opened"), field(\bp_provider.ended, "ended"),
            size("bp_wire_lane", bp_wire_lane.self), field(\bp_wire_lane.type, "type"),
            field(\bp_wire_lane.layout, "layout"),
            field(\bp_wire_lane.make_cells, "make_cells"),
            size("bp_component_lane", bp_component_lane.self), field(\bp_component_lane.type, "type"),
            field(\bp_component_lane.layout, "layout"), field(\bp_component_lane.cells, "cells"),
            field(\bp_component_lane.failures, "failures"),
            field(\bp_component_lane.last_failure, "last_failure"),
            field(\bp_component_lane.observe_failures, "observe_failures"),
            size("bp_state_lane", bp_state_lane.self), field(\bp_state_lane.type, "type"),
            field(\bp_state_lane.layout, "layout"), field(\bp_state_lane.export_value, "export_value"),
            field(\bp_state_lane.import_value, "import_value"), field(\bp_state_lane.release, "release"),
            size("bp_call", bp_call.self), field(\bp_call.size, "size"), field(\bp_call.flags, "flags"),
            field(\bp_call.deadline_ns, "deadline_ns"), field(\bp_call.path, "path"), field(\bp_call.trace, "trace"),
        ]
    }

    /// What Swift stores behind a binding's pointers, and the functions it is called through, in the compiler's own
    /// spelling.
    private static var cells: [String] {
        [
            size("AsyncCell", AsyncCell<Int, String>.self),
            context(of: AsyncCell<Int, String>({ _, _, _, _ in }, context: mark), "AsyncCell"),
            size("SyncCell", SyncCell<Int, String>.self),
            context(of: SyncCell<Int, String>({ _, _, _, _ in }, context: mark), "SyncCell"),
            size("StreamCell", StreamCell<Int>.self),
            context(of: StreamCell<Int>({ _, _, _, _, _ in mutableMark }, context: mark), "StreamCell"),
            size("StreamSource", StreamSource<Int>.self),
            context(
                of: StreamSource<Int>(next: { _, _ in }, close: { _ in }, context: mutableMark), "StreamSource"),
            size("Held of a class", Held<LaneRecordOwner>.self),
            "AsyncFunction: \(_mangledTypeName(AsyncFunction<Int, String>.self) ?? "?")",
            "SyncFunction: \(_mangledTypeName(SyncFunction<Int, String>.self) ?? "?")",
            "StreamOpenFunction: \(_mangledTypeName(StreamOpenFunction<Int>.self) ?? "?")",
            "StreamNextFunction: \(_mangledTypeName(StreamNextFunction<Int>.self) ?? "?")",
        ]
    }

    private static var mutableMark: UnsafeMutableRawPointer { UnsafeMutableRawPointer(mutating: mark) }
    private static var mark: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 0x5EED)! }

    /// Where a cell keeps its context: what is left is its function. Seen in a cell that has one, since fields that
    /// change places change no size.
    private static func context<Cell: ~Copyable>(of cell: consuming Cell, _ name: String) -> String {
        let offset = withUnsafePointer(to: cell) { cell in
            stride(from: 0, to: MemoryLayout<Cell>.size, by: 8).first {
                UnsafeRawPointer(cell).load(fromByteOffset: $0, as: UnsafeRawPointer?.self) == mark
            }
        }
        return "\(name).context at \(offset.map(String.init) ?? "?")"
    }

    /// What every call carries and throws.
    private static var types: [String] {
        let types: [Any.Type] = [Call.self, BackplaneError.self]
        return types.map { type in (try? TypeLayout(of: type).text) ?? "\(type) has no layout" }
    }
}

private final class LaneRecordOwner: Manager {
    init(_ context: Context) {}
}
