import CBackplane
import FoundationEssentials
import Synchronization

/// The records of the contracts that a plugin names.
///
/// Each is created once, even if several wires name it.
final class ContractRecords: Sendable {
    /// The record of one contract.
    struct ContractRecord: Sendable {
        let description: ContractDescription
        let problems: [String]
        let values: ContractValues
        var members: [(name: String, type: any EncodedMember.Type)] { values.members }
    }
    // Arrays: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private let records = Mutex<[(contract: ObjectIdentifier, record: ContractRecord)]>([])
    private let needed = Mutex<[(contract: ObjectIdentifier, wire: NeededWire)]>([])

    func record<C: Contract>(of _: C.Type) -> ContractRecord {
        if let known = records.withLock({ $0.first { $0.contract == ObjectIdentifier(C.self) } }) {
            return known.record
        }
        let members = Members<C>()
        let record = ContractRecord(
            description: members.description, problems: members.problems,
            values: ContractValues(of: C.self, members.all))
        records.withLock { $0.append((ObjectIdentifier(C.self), record)) }
        return record
    }

    /// Returns the wire that a lookup by a contract passes to the host.
    func neededWire<C: Contract>(_: C.Type) -> NeededWire {
        let wire = DeclaredWire(label: "", isOptional: false, record(of: C.self))
        return needed.withLock { needed in
            if let known = needed.first(where: { $0.contract == ObjectIdentifier(C.self) }) { return known.wire }
            let new = NeededWire(wire)
            needed.append((ObjectIdentifier(C.self), new))
            return new
        }
    }
}

/// The values that a contract's methods carry, as this side compiled them.
struct ContractValues: Sendable {
    /// The layouts of the contract (``LayoutReader``).
    let layout: KeptText
    let members: [(name: String, type: any EncodedMember.Type)]

    /// The values of a contract that is known only at run time.
    static var undescribed: ContractValues { ContractValues(layout: KeptText { "" }, members: []) }
}

extension ContractValues {
    init<C: Contract>(of _: C.Type, _ members: [(name: String, type: any EncodedMember.Type)]) {
        self.init(layout: KeptText { LayoutReader.layouts(of: C.self) }, members: members)
    }
}

/// A wire that no component declares, and its descriptor, which lives as long as the process.
struct NeededWire: Sendable {
    let wire: DeclaredWire
    let descriptor: ConstantPointer<bp_wire>

    init(_ wire: DeclaredWire) {
        self.wire = wire
        descriptor = ConstantPointer(forever([bp_wire(wire)])!)
    }
}

/// A stored property of a contract, read from the compiler's reflection metadata.
struct StoredProperty {
    var label: String
    /// The member in the property; `nil` if it is not a method.
    var member: DeclaredMember?

    /// Returns the stored properties of a struct in declaration order; none for any other type.
    static func all<C: Contract>(of contract: C) -> [StoredProperty] {
        let metadata = TypeMetadata(C.self)
        guard case .structure = metadata.kind, let fields = metadata.descriptor.fields?.records else { return [] }
        return withUnsafePointer(to: contract) { contract in
            fields.enumerated().map { index, field in
                let isMethod = field.type?.declaration.map(isMethod) ?? false
                let place = UnsafeRawPointer(contract) + metadata.fieldOffset(index)
                return StoredProperty(label: field.name, member: isMethod ? place.load(as: DeclaredMember.self) : nil)
            }
        }
    }

    /// Returns whether a declaration is one of the method types, judging by its name.
    ///
    /// To create one of these types, the runtime would first look up the conformances of its generic arguments.
    private static func isMethod(_ declaration: ContextDescriptor) -> Bool {
        guard case .structure = declaration.kind else { return false }
        switch declaration.name {
        case "AsyncMethod", "SyncMethod", "StreamMethod": return declaration.module == module
        default: return false
        }
    }

    private static let module = TypeMetadata(StoredProperty.self).descriptor.module
}

/// Samples in JSON of the values that a contract's methods carry, by the names of the methods.
package struct ContractSamples: Codable, Sendable {
    package var inputs: [String: [String]] = [:]
    /// The outputs or, for a stream, the elements.
    package var outputs: [String: [String]] = [:]
    /// The stream whose resuming input is requested, instead of mistakes.
    ///
    /// That input follows the given input after the given element, or opens the stream again before its first element.
    package var resumed: String?

    package init(inputs: [String: [String]] = [:], outputs: [String: [String]] = [:], resumed: String? = nil) {
        (self.inputs, self.outputs, self.resumed) = (inputs, outputs, resumed)
    }
}

/// A sample that could not be read as the type of a method.
package struct SampleMistake: Codable, Sendable {
    package var method: String
    package var isInput: Bool
    /// The JSON pointer to the value; empty for the whole sample.
    package var pointer: String
    /// A Boolean value that indicates whether the value is missing or of another kind of JSON.
    package var isOfKind: Bool
}

/// A rehearsal of a contract's coding, without a call: this side's own coders write and read samples.
///
/// Only the coders know the form of a type's values, because the type may have custom coding.
extension ContractValues {
    /// Answers an empty request with samples, and samples of another module with the mistakes in reading them.
    func rehearse(_ request: bp_bytes, _ reply: Reply) {
        do throws(BackplaneError) { reply.end(EncodedAnswer(try rehearsed(request.array))) } catch { reply.end(error) }
    }

    fileprivate func rehearsed(_ request: [UInt8]) throws(BackplaneError) -> [UInt8] {
        guard !request.isEmpty else { return try JSON.encode(samples, failing: .callInvalidOutput) }
        let samples = try JSON.decode(ContractSamples.self, request, failing: .callInvalidInput)
        if let stream = samples.resumed {
            return try JSON.encode(resumption(of: stream, samples), failing: .callInvalidOutput)
        }
        return try JSON.encode(mistakes(in: samples), failing: .callInvalidOutput)
    }

    private var samples: ContractSamples {
        var samples = ContractSamples()
        for member in members {
            samples.inputs[member.name] = SampleDecoder.samples(of: member.type.types.input)
            samples.outputs[member.name] = SampleDecoder.samples(of: member.type.types.output)
        }
        return samples
    }

    /// Returns the input with which an interrupted stream is opened again; none if the input is not ``Resumable`` or
    /// has no position.
    private func resumption(of stream: String, _ samples: ContractSamples) throws(BackplaneError) -> [String] {
        guard let types = members.first(where: { $0.name == stream })?.type.types,
            let input = samples.inputs[stream]?.first,
            let type = types.input as? any (Resumable & Codable).Type
        else { return [] }
        return try Self.resumption(of: input, as: type, after: samples.outputs[stream]?.first, as: types.output)
    }

    private static func resumption<Input: Resumable & Codable, Element: Codable>(
        of json: String, as _: Input.Type, after last: String?, as _: Element.Type
    ) throws(BackplaneError) -> [String] {
        let input = try JSON.decode(Input.self, Array(json.utf8), failing: .callInvalidInput)
        guard let last else { return input.hasPosition ? [json] : [] }
        let element = try JSON.decode(Element.self, Array(last.utf8), failing: .callInvalidOutput)
        guard let element = element as? Input.Element else { return [] }
        let next = try JSON.encode(input.resuming(after: element), failing: .callInvalidInput)
        return [String(decoding: next, as: UTF8.self)]
    }

    private func mistakes(in samples: ContractSamples) -> [SampleMistake] {
        var mistakes: [SampleMistake] = []
        for (name, type) in members {
            let (inputs, outputs) = (samples.inputs[name] ?? [], samples.outputs[name] ?? [])
            mistakes += Self.mistakes(in: inputs, as: type.types.input, of: name, isInput: true)
            mistakes += Self.mistakes(in: outputs, as: type.types.output, of: name, isInput: false)
        }
        return mistakes
    }

    private static func mistakes<T: Codable>(
        in samples: [String], as _: T.Type, of method: String, isInput: Bool
    ) -> [SampleMistake] {
        var mistakes: [SampleMistake] = []
        for sample in samples {
            guard let mistake = JSON.mistake(decoding: T.self, from: sample) else { continue }
            let pointer = mistake.path ?? ""
            guard !mistakes.contains(where: { $0.pointer == pointer }) else { continue }
            mistakes.append(
                SampleMistake(method: method, isInput: isInput, pointer: pointer, isOfKind: mistake.isOfKind))
        }
        return mistakes
    }
}

extension ContractSamples {
    /// Answers a rehearsal as the module that contains this copy of the SDK; `nil` if a sample cannot be encoded.
    package static func rehearse<C: Contract>(_ request: [UInt8], as _: C.Type) -> [UInt8]? {
        try? ContractValues(of: C.self, Members<C>().all).rehearsed(request)
    }
}

/// A decoder without input, which creates a value with every optional part, and with one element in each list.
private struct SampleDecoder: Decoder {
    /// The choices that all decoders of one value share.
    final class Choices {
        /// The number of the value, which selects the case of every enum.
        var number = 0
        /// The greatest number of cases that an enum had.
        var most = 1
        /// The number of parts that the value may still have, because a type may contain itself.
        var left = 0
    }
    let choices: Choices
    var depth = 0
    /// The cases of the enum that is being created.
    var cases: [String] = []
    /// A Boolean value that indicates whether the optional parts are present.
    var isFull = true

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Returns samples of a type in JSON, in which every case of its enums occurs; none if its coders refuse the
    /// created values.
    static func samples<T: Codable>(of _: T.Type) -> [String] {
        let choices = Choices()
        var samples: [String] = []
        repeat {
            choices.left = 4_096
            if let value = try? SampleDecoder(choices: choices).value(of: T.self),
                let json = try? JSON.encode(value, failing: .callInvalidOutput)
            {
                samples.append(String(decoding: json, as: UTF8.self))
            }
            choices.number += 1
        } while choices.number < min(choices.most, 64)
        return samples
    }

    /// Values of types without parts.
    private static let plain: [any Sendable] = [
        "a", 1, true, 1.0, Float(1), UInt(1), Int8(1), Int16(1), Int32(1), Int64(1), UInt8(1), UInt16(1), UInt32(1),
        UInt64(1), Date(timeIntervalSinceReferenceDate: 1), Data([1]), UUID(), URL(filePath: "/a"), Decimal(1),
    ]

    private func value<T: Decodable>(of _: T.Type) throws -> T {
        choices.left -= 1
        guard choices.left >= 0 else { throw Exhausted() }
        if let plain = Self.plain.first(where: { type(of: $0) == T.self }) as? T { return plain }
        let metadata = TypeMetadata(T.self)
        var inner = self
        (inner.depth, inner.cases) = (depth + 1, [])
        inner.isFull = inner.depth < 8
        if case .enumeration = metadata.kind, let cases = metadata.descriptor.fields?.records, !cases.isEmpty,
            !StandardType.modules.contains(metadata.descriptor.module), !metadata.descriptor.module.hasPrefix("__C")
        {
            choices.most = max(choices.most, cases.count)
            // Without payloads, a value in memory is the number of its case, in as few bytes as needed.
            if cases.allSatisfy({ $0.type == nil }), MemoryLayout<T>.size <= 4 {
                return withUnsafeBytes(of: UInt32(choices.number % cases.count)) { $0.load(as: T.self) }
            }
            inner.cases = cases.map(\.name)
        }
        do { return try T(from: inner) } catch  where inner.isFull {
            inner.isFull = false
            return try T(from: inner)
        }
    }

    private struct Exhausted: Error {}

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Fields(decoder: self))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(decoder: self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: SampleDecoder
        let codingPath: [any CodingKey] = []
        /// The selected case of an enum, or one key for a dictionary; that key is also a number.
        var allKeys: [Key] {
            let cases = decoder.cases
            let name = cases.isEmpty ? "1" : cases[decoder.choices.number % cases.count]
            return decoder.isFull || !cases.isEmpty ? [Key(stringValue: name)].compactMap(\.self) : []
        }

        func contains(_: Key) -> Bool { decoder.isFull }
        func decodeNil(forKey _: Key) -> Bool { !decoder.isFull }
        func decode<T: Decodable>(_: T.Type, forKey _: Key) throws -> T { try decoder.value(of: T.self) }
        func nestedContainer<Nested: CodingKey>(keyedBy _: Nested.Type, forKey _: Key) -> KeyedDecodingContainer<Nested>
        {
            KeyedDecodingContainer(SampleDecoder.Fields<Nested>(decoder: decoder.inside))
        }
        func nestedUnkeyedContainer(forKey _: Key) -> any UnkeyedDecodingContainer {
            Elements(decoder: decoder.inside)
        }
        func superDecoder() -> any Decoder { decoder.inside }
        func superDecoder(forKey _: Key) -> any Decoder { decoder.inside }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let decoder: SampleDecoder
        let codingPath: [any CodingKey] = []
        let count: Int? = nil
        private(set) var currentIndex = 0
        var isAtEnd: Bool { currentIndex >= (decoder.isFull ? 1 : 0) }

        init(decoder: SampleDecoder) { self.decoder = decoder }

        mutating func decodeNil() -> Bool { false }
        mutating func decode<T: Decodable>(_: T.Type) throws -> T {
            currentIndex += 1
            return try decoder.value(of: T.self)
        }
        mutating func nestedContainer<Nested: CodingKey>(keyedBy _: Nested.Type) -> KeyedDecodingContainer<Nested> {
            currentIndex += 1
            return decoder.inside.container(keyedBy: Nested.self)
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
            currentIndex += 1
            return decoder.inside.unkeyedContainer()
        }
        mutating func superDecoder() -> any Decoder {
            currentIndex += 1
            return decoder.inside
        }
    }

    /// The decoder of a part that has no type of its own.
    private var inside: SampleDecoder {
        var inside = self
        (inside.depth, inside.cases) = (depth + 1, [])
        return inside
    }
}

extension SampleDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { !isFull }
    func decode<T: Decodable>(_: T.Type) throws -> T { try value(of: T.self) }
}

/// The members of a contract in declaration order, read once from one of its values.
package struct Members<C: Contract>: Sendable {
    let all: [(name: String, type: any EncodedMember.Type)]
    /// The violations of the rules for contracts; empty for a valid contract.
    package let problems: [String]

    package init() {
        var all: [(name: String, type: any EncodedMember.Type)] = []
        var problems: [String] = []
        for property in StoredProperty.all(of: C()) {
            guard let member = property.member else {
                problems.append(
                    "\(C.name).\(property.label) is not an AsyncMethod, a SyncMethod or a StreamMethod; a contract has no other stored properties"
                )
                continue
            }
            let name = member.name ?? property.label
            if all.contains(where: { $0.name == name }) {
                problems.append("\(C.name) has two members named `\(name)`; give one of them another name")
            }
            all.append((name, member.type))
        }
        // Member numbers rely on this: a number is the property's offset divided by the common size of all members.
        if problems.isEmpty, MemoryLayout<C>.size != all.count * MemoryLayout<AsyncMethod<Nothing, Nothing>>.stride {
            problems.append("\(C.name) must be a struct that contains only methods")
        }
        (self.all, self.problems) = (all, problems)
    }

    package var description: ContractDescription {
        ContractDescription(
            name: C.name, version: C.version,
            methods: all.map { MethodDescription(name: $0.name, kind: $0.type.kind) })
    }
}

/// The only stored property of a contract's member.
///
/// A member states its own type, because the runtime would search every loaded image to find it from outside.
struct DeclaredMember: Sendable {
    /// The name used across the boundary, if it differs from the property's name.
    let name: String?
    let type: any EncodedMember.Type
}
