import CBackplane
import Glibc
import TestFixtures
import Testing

@testable import Backplane
@testable import BackplaneHost

/// What a host reads of a component's traits, state and annotation in a descriptor that it cannot trust.
///
/// All structs end where the readable memory ends, so that one byte too many is a crash.
struct DescriptorStateTests {
    /// A component with state and all traits, as a plugin in C would describe it.
    private static var component: bp_component {
        bp_component(
            size: 0, role: Role.manager.rawValue, class_name: .forever("Far"), version: .forever("1.0.0"),
            contract: .empty, contract_version: .empty,
            methods: nil, method_count: 0, wires: nil, wire_count: 0, type: nil, create: { _, _, _, _ in },
            activate: nil, suspend: nil, resume: nil,
            stop: nil, release: nil, call: nil, cancel: nil, lane: nil, review: nil,
            traits: UInt32(BP_EXCLUSIVE) | UInt32(BP_RESTART_ON_SWAP),
            reserved: 0, state: nil, health: { _, _, _ in }, reconfigure: nil, open: nil, next: nil, close: nil,
            annotation: .empty)
    }

    private static var state: bp_state {
        bp_state(
            size: 0, version: 2, schema: .forever("words"), accepts_min: 1, accepts_max: 3, writes_min: 1, reserved: 0,
            export_state: { _, _, _, _ in }, import_state: { _, _, _, _, _ in }, lane: nil)
    }

    /// Reads the component, and its state if there is to be any, from structs of these sizes.
    private func read(
        _ component: bp_component = Self.component, size: Int = MemoryLayout<bp_component>.size,
        state: bp_state? = Self.state, stateSize: Int = MemoryLayout<bp_state>.size, from origin: LaneOrigin = .program
    ) throws(BackplaneError) -> ComponentClass {
        var component = component
        let lent = state.map { GuardedMemory([$0], size: stateSize) }
        component.state = lent.map { UnsafePointer($0.pointer()) }
        let memory = GuardedMemory([component], size: size)
        defer { withExtendedLifetime((lent, memory)) {} }
        var answer = bp_answer()
        (answer.components, answer.component_count) = (UnsafePointer(memory.pointer()), 1)
        return try ComponentClass.all(of: answer, from: origin)[0]
    }

    @Test func `it is read whole`() throws {
        let description = try read().description
        #expect(description.isExclusive && description.restartsOnSwap)
        #expect(description.state == StateDescription(schema: "words", version: 2, accepts: 1...3, writes: 1...2))
    }

    @Test func `the native lane of a state is read where the state's struct and its revision reach it`() throws {
        var record = Self.state
        let lane = bp_state_lane(
            type: UnsafeMutableRawPointer(bitPattern: 8)!, layout: { _ in .forever("state: Int") },
            export_value: { _, _, _ in }, import_value: { _, _, _, _ in }, release: { _, _ in })
        record.lane = UnsafeRawPointer(forever([lane]))
        #expect(try read(state: record).stateSide?.layout.read() == "state: Int")
        let end = MemoryLayout<bp_state>.offset(of: \.lane)!
        #expect(try read(state: record, stateSize: end).stateSide?.layout.read() == nil, "an older header")
        // Of another revision, what the pointer leads to is not read.
        record.lane = UnsafeRawPointer(bitPattern: 8)
        let foreign = LaneOrigin(name: "plugin `a`", toolchain: "", revision: 0)
        #expect(try read(state: record, from: foreign).stateSide?.layout.read() == nil)
    }

    @Test func `an annotation is read where the component's struct reaches it`() throws {
        var component = Self.component
        component.annotation = .forever(#"{"a": 1}"#)
        #expect(try read(component).description.annotation == #"{"a": 1}"#)
        let end = MemoryLayout<bp_component>.offset(of: \.annotation)!
        #expect(try read(component, size: end).description.annotation == nil, "an older header")
    }

    @Test func `an annotation that is not JSON, or too long, is refused`() {
        func refusal(_ annotation: bp_bytes) -> String? {
            var component = Self.component
            component.annotation = annotation
            do throws(BackplaneError) { _ = try read(component) } catch {
                return error.code == .pluginInvalidAnswer ? error.message : "\(error)"
            }
            return nil
        }
        let longest = 262_144, text = { (length: Int) in "\"\(String(repeating: "a", count: length - 2))\"" }
        #expect(refusal(.forever(text(longest))) == nil)
        #expect(
            refusal(.forever(text(longest + 1)))
                == "Far's annotation: expected at most \(longest) bytes, found \(longest + 1)")
        #expect(refusal(bp_bytes(data: nil, length: -1))?.contains("found 18446744073709551615") == true)
        #expect(
            refusal(bp_bytes(data: nil, length: 5)) == "Far's annotation: found a length of 5 without bytes")
        #expect(refusal(bp_bytes(data: forever([0xFF] as [UInt8]), length: 1)) == "Far's annotation is not UTF-8")
        #expect(
            refusal(.forever("{"))
                == "Far's annotation cannot be read as JSON: line 1, column 2: expected a key in quotes, found the end of the file"
        )
        #expect(refusal(.forever(String(repeating: "[", count: 100)))?.contains("deeper than 64 levels") == true)
    }

    @Test(arguments: [0, 8, 64]) func `longer structs are read as far as they are known`(more: Int) throws {
        let description = try read(
            size: MemoryLayout<bp_component>.size + more, stateSize: MemoryLayout<bp_state>.size + more
        ).description
        #expect(description.isExclusive && description.state?.schema == "words")
    }

    @Test(
        arguments: [
            (0, false, false), (1, true, false), (2, false, true), (3, true, true), (0xFFFF_FFFC, false, false),
            (.max, true, true),
        ] as [(UInt32, Bool, Bool)])
    func `unknown traits are ignored`(traits: UInt32, isExclusive: Bool, restarts: Bool) throws {
        var component = Self.component
        component.traits = traits
        let description = try read(component).description
        #expect(description.isExclusive == isExclusive && description.restartsOnSwap == restarts)
    }

    @Test func `state that does not reach its functions, or lacks one, is refused`() {
        func refusal(size: Int = MemoryLayout<bp_state>.size, _ spoil: (inout bp_state) -> Void = { _ in }) -> String? {
            var state = Self.state
            spoil(&state)
            do throws(BackplaneError) { _ = try read(state: state, stateSize: size) } catch {
                return error.code == .pluginInvalidAnswer ? error.message : "\(error)"
            }
            return nil
        }
        let advice = "set both, and set `size` to sizeof(bp_state)"
        let needs = "Far: the state `words` needs `export_state` and `import_state`, but has"
        #expect(refusal { $0.export_state = nil } == "\(needs) only the second; \(advice)")
        #expect(refusal { $0.import_state = nil } == "\(needs) only the first; \(advice)")
        #expect(
            refusal(size: MemoryLayout<bp_state>.offset(of: \.import_state)!) == "\(needs) only the first; \(advice)")
        #expect(refusal(size: MemoryLayout<bp_state>.offset(of: \.export_state)!) == "\(needs) neither; \(advice)")
        for size in [4, 8] { #expect(refusal(size: size) == "Far's state: the schema is empty") }

        #expect(refusal { $0.schema = .empty } == "Far's state: the schema is empty")
        #expect(
            refusal { $0.schema.length = -1 }?.contains(
                "Far's state: the schema: expected at most 1024 bytes, found 18446744073709551615") == true)
        #expect(refusal { $0.schema.data = nil } == "Far's state: the schema: found a length of 5 without bytes")
        #expect(
            refusal { $0.schema = .forever("two words") }?.contains("contains spaces or control characters") == true)

        let range = "expected a range that includes its own version 2"
        #expect(
            refusal { ($0.accepts_min, $0.accepts_max) = (3, 1) }
                == "Far: the state `words` accepts versions 3 to 1, \(range)")
        #expect(
            refusal { ($0.accepts_min, $0.accepts_max) = (3, 3) }
                == "Far: the state `words` accepts versions 3 to 3, \(range)")
        #expect(
            refusal { ($0.accepts_min, $0.accepts_max) = (0, 1) }
                == "Far: the state `words` accepts versions 0 to 1, \(range)")
        #expect(
            refusal { $0.writes_min = 3 }
                == "Far: the state `words` declares 3 as the oldest version it writes, expected at most its own version 2"
        )
        #expect(refusal { ($0.accepts_min, $0.accepts_max, $0.writes_min) = (0, .max, 0) } == nil)
    }
}

/// The ABI number: one out of both ranges, or nothing is touched.
struct NegotiationTests {
    @Test func `the highest common number of two ranges is chosen, and none where there is none`() {
        for (a, b, c, d) in combinations(of: 0...4) {
            let common = Set(a < b + 1 ? Array(a...b) : []).intersection(c < d + 1 ? Array(c...d) : [])
            #expect(bp_common_abi(a, b, c, d) == common.max() ?? BP_NO_ABI, "\(a)...\(b) and \(c)...\(d)")
        }
    }

    private func combinations(of range: ClosedRange<UInt32>) -> [(UInt32, UInt32, UInt32, UInt32)] {
        range.flatMap { a in range.flatMap { b in range.flatMap { c in range.map { d in (a, b, c, d) } } } }
    }

    @Test(arguments: [(0, 0), (0, 1), (0, .max)] as [(UInt32, UInt32)])
    func `a plugin chooses a number out of a host's range and its own`(lowest: UInt32, highest: UInt32) throws {
        let asked = OtherVersionHost(abi: lowest...highest).ask(ProbePlugin.self)
        #expect(asked.status == BP_OK)
        #expect(asked.answer.abi == 0)
    }

    @Test(arguments: [(1, 1), (1, 7), (.max, .max), (3, 0)] as [(UInt32, UInt32)])
    func `a plugin touches nothing when the host's range is another`(lowest: UInt32, highest: UInt32) {
        let asked = OtherVersionHost(abiMin: lowest, abiMax: highest).ask(ProbePlugin.self)
        #expect(asked.status == BP_UNIMPLEMENTED)
        #expect(asked.untouched == 0..<asked.offered)
    }

    @Test func `a host takes no number that the plugin's identity does not have`() throws {
        let identity = try LibraryIdentity(of: ELFImage(FixtureLibrary.bytes(abi: 3...5)), at: "libA.so")
        let answer = try PluginDescription(asking: ProbePlugin.self, getInterface: { _, _ in nil })
        let refusal = #expect(throws: BackplaneError.self) { try identity.requireAgreement(with: answer) }
        #expect(refusal?.code == .pluginABIMismatch)
        #expect(refusal?.message.contains("chose ABI 0, but its identity states 3 to 5") == true)
    }
}

/// A plugin of this SDK in hosts that know more of a struct than it does, or less.
///
/// All structs end where the readable memory ends, so that one byte too many is a crash.
struct PluginGrowthTests {
    @Test(arguments: [0, 8, 40, 4_096]) func `a longer offer is read as far as it is known`(more: Int) {
        var host = OtherVersionHost()
        host.offerSize += more
        #expect(host.ask(ProbePlugin.self).status == BP_OK)
    }

    @Test(arguments: [4, 8, 16, 40, 48]) func `an offer without what a plugin needs is declined, and nothing touched`(
        size: Int
    ) {
        var host = OtherVersionHost()
        host.offerSize = size
        let asked = host.ask(ProbePlugin.self)
        #expect(asked.status == BP_UNIMPLEMENTED)
        #expect(asked.untouched == 0..<asked.offered)
    }

    @Test func `an answer is written as far as both sides know it, whatever its size`() {
        let known = MemoryLayout<bp_answer>.size
        for size in stride(from: 8, through: known + 160, by: 8) {
            var host = OtherVersionHost()
            host.answerSize = size
            let asked = host.ask(ProbePlugin.self)
            #expect(asked.status == BP_OK)
            #expect(Int(asked.answer.size) == min(size, known), "it says how far it knows the answer")
            #expect(asked.untouched.lowerBound <= known, "of \(size) bytes offered")
            if size >= MemoryLayout<bp_answer>.offset(of: \.toolchain)! {
                #expect(asked.answer.id.text == "org.example.probe" && asked.answer.version.text == "1.0.0")
            }
        }
    }
}

/// The table that both sides compare, and its hash.
struct LayoutTableTests {
    /// Only the required ones, as a plugin in another language may have it.
    @Test func `the fields that a table must have are enough`() {
        let whole = bp_check_self()
        for missing in [nil] + LayoutTable.required.map(Optional.some) {
            let fields = UnsafeBufferPointer(start: whole.fields, count: whole.field_count).filter { field in
                let name = field.name.map { String(cString: $0) } ?? ""
                return LayoutTable.required.contains(name) && name != missing
            }
            var check = whole
            check.field_count = fields.count
            check.layout_hash = bp_layout_hash(fields, fields.count)
            let refusal = fields.withUnsafeBufferPointer { fields -> BackplaneError? in
                check.fields = fields.baseAddress
                do throws(BackplaneError) {
                    try SelfCheck.require(check)
                    return nil
                } catch {
                    return error
                }
            }
            #expect((refusal == nil) == (missing == nil))
            #expect(refusal?.message.contains(missing ?? "") != false, "\(refusal?.message ?? "")")
        }
    }
}

/// Memory that ends where the readable pages end: who reads or writes one byte too many crashes.
final class GuardedMemory: @unchecked Sendable {  // lent to one side at a time
    let start: UnsafeMutableRawPointer
    let count: Int
    private let mapping: UnsafeMutableRawPointer
    private let mapped: Int

    /// `count` bytes of 0xAA.
    init(count: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        mapped = (count + page - 1) / page * page + page
        mapping = mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        precondition(mapping != MAP_FAILED)
        precondition(mprotect(mapping + mapped - page, page, PROT_NONE) == 0)
        (start, self.count) = (mapping + mapped - page - count, count)
        start.initializeMemory(as: UInt8.self, repeating: 0xAA, count: count)
    }

    /// Values as a side lends them whose struct has `size` bytes: cut off where it is shorter, junk behind where it is
    /// longer.
    ///
    /// - Precondition: `Value` begins with its size.
    convenience init<Value>(_ values: [Value], size: Int) {
        self.init(count: size * values.count)
        for (index, value) in values.enumerated() {
            let place = start + index * size
            withUnsafeBytes(of: value) { place.copyMemory(from: $0.baseAddress!, byteCount: min(size, $0.count)) }
            place.storeBytes(of: UInt32(size), as: UInt32.self)
        }
    }

    deinit {
        munmap(mapping, mapped)
    }

    func pointer<Value>(as _: Value.Type = Value.self) -> UnsafeMutablePointer<Value> {
        start.assumingMemoryBound(to: Value.self)
    }

    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}

/// A host of another year: its structs are longer or shorter than those that the SDK knows, and end at the edge of
/// memory.
struct OtherVersionHost {
    var abiMin: UInt32 = 0
    var abiMax: UInt32 = 0
    /// In bytes.
    var offerSize = MemoryLayout<bp_offer>.size
    var answerSize = MemoryLayout<bp_answer>.size
    var getInterface: bp_get_interface = { _, _ in nil }

    init() {}
    init(abi: ClosedRange<UInt32>) { (abiMin, abiMax) = (abi.lowerBound, abi.upperBound) }
    init(abiMin: UInt32, abiMax: UInt32) { (self.abiMin, self.abiMax) = (abiMin, abiMax) }

    /// What came of asking a plugin.
    struct Asked {
        var status: Int32
        /// As far as it was answered, and zero from there on.
        var answer: bp_answer
        /// In bytes.
        var offered: Int
        /// The bytes that are as they were before.
        var untouched: Range<Int>
    }

    func ask(_ plugin: any Plugin.Type) -> Asked {
        let offer = bp_offer(
            size: 0, abi_min: abiMin, abi_max: abiMax, lane_revision: 0, host_version: .empty, toolchain: .empty,
            get_interface: getInterface)
        let offerMemory = GuardedMemory([offer], size: offerSize), answerMemory = GuardedMemory(count: answerSize)
        answerMemory.start.storeBytes(of: UInt32(answerSize), as: UInt32.self)
        let before = answerMemory.bytes
        let status = withExtendedLifetime(offerMemory) { plugin.enter(offerMemory.pointer(), answerMemory.pointer()) }
        let after = answerMemory.bytes
        let touched = before.indices.last { before[$0] != after[$0] }.map { $0 + 1 } ?? 0
        let answer: bp_answer = read(UnsafeRawPointer(answerMemory.start))
        return Asked(status: status, answer: answer, offered: answerSize, untouched: touched..<answerSize)
    }
}

/// The plugin whose entry function the tests call.
struct ProbePlugin: Plugin {
    static let id = "org.example.probe"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {}
}
