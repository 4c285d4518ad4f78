package import Backplane
import BackplaneDocuments
package import CBackplane
import FoundationEssentials

/// A plugin's answer to its entry call, which is checked before any of it is used.
package struct PluginDescription: Sendable {
    /// The exported function `backplane_plugin_entry_v1`.
    package typealias Entry = @convention(c) (UnsafePointer<bp_offer>, UnsafeMutablePointer<bp_answer>) -> Int32

    package let id: String
    package let version: Version
    /// The ABI number that the plugin chose.
    package let abi: UInt32
    /// The compiler that built the plugin; empty if the plugin does not state it.
    package let toolchain: String
    package let components: [ComponentClass]

    /// Calls the entry function and reads the answer.
    ///
    /// - Throws: `plugin.abi-mismatch`, `plugin.layout-mismatch`, `plugin.refused`, `plugin.invalid-answer`.
    package init(asking entry: Entry, getInterface: @escaping bp_get_interface) throws(BackplaneError) {
        try self.init({ entry($0, $1) }, getInterface)
    }

    /// Reads the answer of a plugin that is linked into the host program.
    package init(asking plugin: any Plugin.Type, getInterface: @escaping bp_get_interface) throws(BackplaneError) {
        try self.init({ plugin.enter($0, $1) }, getInterface)
    }

    /// Reads the answer of a linked plugin without a type of its own.
    ///
    /// - Parameter encodes: The reason why it is called only in JSON; `nil` if it need not be.
    package init(
        id: String, version: Version, getInterface: @escaping bp_get_interface, encodes: String? = nil,
        register: (inout Registrar) -> Void
    ) throws(BackplaneError) {
        try self.init(
            { offer, answer in bp_answer.describe(id, version, to: offer, answer, register: register) },
            getInterface, encodes: encodes)
    }

    private init(
        _ enter: (UnsafePointer<bp_offer>, UnsafeMutablePointer<bp_answer>) -> Int32,
        _ getInterface: @escaping bp_get_interface, encodes: String? = nil
    ) throws(BackplaneError) {
        var answer = bp_answer()
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
        let status = String(cString: bp_sdk_version).withBytes { version in
            SwiftCompiler.build.withBytes { toolchain in
                var offer = bp_offer(
                    size: UInt32(MemoryLayout<bp_offer>.size), abi_min: UInt32(BP_ABI_MIN), abi_max: UInt32(BP_ABI_MAX),
                    lane_revision: BP_LANE_REVISION, host_version: version, toolchain: toolchain,
                    get_interface: getInterface)
                return enter(&offer, &answer)
            }
        }
        // A plugin with a smaller header lowers `size`; the fields beyond it are not set.
        answer = withUnsafePointer(to: answer) { read($0) }
        try Self.checkAccepted(status, answer)
        try SelfCheck.require(answer.self_check)
        abi = answer.abi
        let texts = AnswerTexts()
        let problems = try texts.text(answer.problems, "the plugin's problems", limit: 65_536)
        guard problems.isEmpty || answer.id.length != 0 else { throw BackplaneError(.pluginInvalidAnswer, problems) }
        id = try texts.name(answer.id, "the plugin's id")
        version = try texts.version(answer.version, "the plugin's version")
        toolchain = try texts.text(answer.toolchain, "the plugin's toolchain", limit: 4_096)
        guard problems.isEmpty else {
            let causes = problems.split(separator: "\n").map { BackplaneError(.pluginInvalidAnswer, String($0)) }
            throw BackplaneError(
                .pluginInvalidAnswer, "the components of \(id) \(version) are declared incorrectly", causes: causes)
        }
        let origin = LaneOrigin(
            name: "plugin `\(id)`", toolchain: toolchain, revision: answer.lane_revision, encodes: encodes)
        components = try ComponentClass.all(of: answer, from: origin)
    }

    private static func checkAccepted(_ status: Int32, _ answer: bp_answer) throws(BackplaneError) {
        guard status != Int32(BP_UNIMPLEMENTED) else {
            throw BackplaneError(
                .pluginABIMismatch,
                "the plugin supports none of this host's ABI numbers (\(BP_ABI_MIN) to \(BP_ABI_MAX)); build it with "
                    + "this host's version of backplane.h"
            )
        }
        guard status == Int32(BP_OK) else {
            throw BackplaneError(
                .pluginRefused, "the plugin refused to load: its entry returned \(status), expected \(BP_OK)")
        }
        guard Int(answer.size) >= MemoryLayout.offset(of: \bp_answer.problems)!,
            Int(answer.size) <= MemoryLayout<bp_answer>.size
        else {
            throw BackplaneError(
                .pluginInvalidAnswer,
                "the plugin reports that its answer has \(answer.size) bytes, expected up to \(MemoryLayout<bp_answer>.size); lower `size` only to sizeof(bp_answer)"
            )
        }
        guard answer.abi >= BP_ABI_MIN, answer.abi <= BP_ABI_MAX else {
            throw BackplaneError(
                .pluginABIMismatch,
                "the plugin chose ABI \(answer.abi), but was offered \(BP_ABI_MIN) to \(BP_ABI_MAX); choose one of those"
            )
        }
    }
}

/// A reader of the strings in an answer, which are not trusted.
struct AnswerTexts {
    func text(_ bytes: bp_bytes, _ what: @autoclosure () -> String, limit: Int) throws(BackplaneError) -> String {
        guard (0...limit).contains(bytes.length) else {
            throw BackplaneError(
                .pluginInvalidAnswer,
                "\(what()): expected at most \(limit) bytes, found \(UInt(bitPattern: bytes.length))")
        }
        guard bytes.data != nil || bytes.length == 0 else {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()): found a length of \(bytes.length) without bytes")
        }
        // Much faster than `String(validating:)`; bytes that are not UTF-8 decode to different ones.
        let text = String(decoding: bytes.lent, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes.lent) else {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()) is not UTF-8")
        }
        return text
    }

    /// Reads a string that is used in messages and paths: not empty, short, on one line.
    func name(_ bytes: bp_bytes, _ what: @autoclosure () -> String) throws(BackplaneError) -> String {
        let name = try text(bytes, what(), limit: 1_024)
        guard !name.isEmpty else { throw BackplaneError(.pluginInvalidAnswer, "\(what()) is empty") }
        let isPlain = name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard
            isPlain
                || name.unicodeScalars.allSatisfy({ !$0.properties.isWhitespace && $0.value >= 32 && $0.value != 127 })
        else {
            throw BackplaneError(
                .pluginInvalidAnswer, "\(what()) contains spaces or control characters: `\(name.debugDescription)`")
        }
        return name
    }

    func version(_ bytes: bp_bytes, _ what: @autoclosure () -> String) throws(BackplaneError) -> Version {
        let text = try text(bytes, what(), limit: 64)
        guard let version = Version(text) else {
            throw BackplaneError(
                .pluginInvalidAnswer, "\(what()): expected numbers with dots such as 1.2.0, found `\(text)`")
        }
        return version
    }

    /// Reads a JSON text; `nil` if it is empty.
    func json(_ bytes: bp_bytes, _ what: @autoclosure () -> String, limit: Int) throws(BackplaneError) -> String? {
        let text = try text(bytes, what(), limit: limit)
        guard !text.isEmpty else { return nil }
        do { _ = try DocumentValue(json: Data(text.utf8)) } catch {
            throw BackplaneError(.pluginInvalidAnswer, "\(what()) cannot be read as JSON: \(error)")
        }
        return text
    }
}

/// The offsets and sizes of all fields in the header's structs, as laid out by one side's compiler (`BP_LAYOUT`).
struct LayoutTable {
    /// The hash computed from the table.
    let hash: UInt64
    private let fields: [String: bp_field]

    /// Reads one side's table.
    ///
    /// - Throws: `plugin.layout-mismatch` for an invalid table.
    init(_ check: bp_self_check) throws(BackplaneError) {
        guard let table = check.fields else {
            throw SelfCheck.mismatch(
                "the plugin does not report the field offsets of backplane.h; set `fields` to the table BP_LAYOUT"
            )
        }
        // A `size_t` beyond `Int.max` arrives as a negative number.
        guard (0...65_535).contains(check.field_count) else {
            throw SelfCheck.mismatch(
                "the plugin's layout table has \(UInt(bitPattern: check.field_count)) entries, which cannot be a table of this header"
            )
        }
        hash = bp_layout_hash(table, check.field_count)
        let named = UnsafeBufferPointer(start: table, count: check.field_count).compactMap { field in
            field.name.map { (String(cString: $0), field) }
        }
        fields = Dictionary(named, uniquingKeysWith: { first, _ in first })
    }

    /// Compares every field that is known to both sides.
    ///
    /// - Throws: `plugin.layout-mismatch`, which names the first different or missing field.
    func requireEqual(to host: LayoutTable) throws(BackplaneError) {
        for name in fields.keys.sorted() {
            guard let ours = host.fields[name], let found = fields[name],
                ours.offset != found.offset || ours.size != found.size
            else { continue }
            throw SelfCheck.mismatch(
                "\(name) is \(ours.size) bytes at offset \(ours.offset) in the host and \(found.size) at \(found.offset) in the plugin; build both with one backplane.h"
            )
        }
        for name in Self.required where fields[name] == nil {
            throw SelfCheck.mismatch(
                "the plugin does not report the offset of \(name); set `fields` to the table BP_LAYOUT")
        }
    }

    /// The fields that are used in every load, as listed in part 6 of the header.
    ///
    /// A table without them proves nothing.
    static let required = [
        "bp_call.path", "bp_method.name", "bp_component.call", "bp_creation.handle", "bp_answer.components",
    ]
}

/// The check that a plugin's compiler laid out `backplane.h` in the same way as the host's compiler.
enum SelfCheck {
    /// Compares a plugin's self-check with the host's own.
    ///
    /// - Throws: `plugin.layout-mismatch`, which names the first different field.
    static func require(_ theirs: bp_self_check, like own: bp_self_check = bp_check_self()) throws(BackplaneError) {
        guard theirs.layout_hash != 0 || theirs.field_count != 0 else {
            throw mismatch(
                "the plugin's answer has no self-check; set `self_check` to bp_check_self(), as part 6 of backplane.h describes"
            )
        }
        if theirs.layout_hash == own.layout_hash { return }
        // One side is newer, or they disagree: the fields that both sides know decide.
        let table = try LayoutTable(theirs)
        try table.requireEqual(to: LayoutTable(own))
        guard table.hash == theirs.layout_hash else {
            throw mismatch(
                "the hash of the plugin's layout table is \(hex(table.hash)), but the plugin reports \(hex(theirs.layout_hash)); compute it as bp_layout_hash does"
            )
        }
    }

    static func mismatch(_ message: String) -> BackplaneError { BackplaneError(.pluginLayoutMismatch, message) }

    static func hex<Number: FixedWidthInteger>(_ number: Number) -> String {
        "0x" + String(Number.Magnitude(truncatingIfNeeded: number), radix: 16, uppercase: true)
    }
}
