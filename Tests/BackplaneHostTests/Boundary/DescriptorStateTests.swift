import CBackplane
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
