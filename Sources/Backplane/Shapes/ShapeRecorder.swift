import FoundationEssentials

/// A decoder that notes what a type decodes, and gives it values without a meaning.
///
/// What a type does with those values decides how much is learnt: of one that refuses them, only what it asked for
/// until then is known.
final class ShapeRecorder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var shape = JSONShape.any
    /// The key that was just found to have a value, so that the type does without one.
    private var optional: String?
    /// The types that are being recorded, the outermost first.
    private let types: [ObjectIdentifier]

    private init(within types: [ObjectIdentifier]) { self.types = types }

    /// The greatest number of types within one another that are recorded.
    private static let depth = 16

    /// Returns the shape of a type, which is any JSON for one that is not decodable.
    static func shape(of type: Any.Type) -> JSONShape {
        (type as? any Decodable.Type).map { shape(of: $0, within: []) } ?? .any
    }

    static func shape<Value: Decodable>(of type: Value.Type, within types: [ObjectIdentifier]) -> JSONShape {
        var shape = JSONShape.any
        _ = try? make(type, within: types) { shape = $0 }
        return shape
    }

    /// An error for a value that cannot be made up.
    private struct Unknown: Error {}

    /// Returns a value of a type.
    ///
    /// - Parameter note: Called with the type's shape, also before an error is thrown.
    private static func make<Value: Decodable>(
        _ type: Value.Type, within types: [ObjectIdentifier], _ note: (JSONShape) -> Void
    ) throws -> Value {
        if let known = Plain.known(type) {
            note(known.shape)
            return known.value
        }
        if let wrapper = type as? any Wrapper.Type, let empty = wrapper.empty as? Value {
            note(wrapper.shape(within: types))
            return empty
        }
        guard types.count < depth, !types.contains(ObjectIdentifier(type)) else {
            note(.any)
            throw Unknown()
        }
        let recorder = ShapeRecorder(within: types + [ObjectIdentifier(type)])
        do {
            let value = try Value(from: recorder)
            note(recorder.shape(isComplete: true))
            return value
        } catch {
            // An enumeration refuses a text that is none of its cases.
            if let first = (type as? any CaseIterable.Type).flatMap({ cases(of: $0) }), let value = first.value as? Value {
                note(first.texts.map(JSONShape.oneOf) ?? recorder.shape(isComplete: false))
                return value
            }
            note(recorder.shape(isComplete: false))
            throw error
        }
    }

    private static func cases<Value: CaseIterable>(of type: Value.Type) -> (value: Any, texts: [String]?)? {
        let texts = type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        return type.allCases.first.map { ($0, texts.count == type.allCases.count ? texts : nil) }
    }

    private func shape(isComplete: Bool) -> JSONShape {
        guard case .object(let properties, _) = shape else { return shape }
        // A type that asks for no key by name decides by the keys that are there.
        return properties.isEmpty ? .any : .object(properties, isComplete: isComplete)
    }

    private func add(_ name: String, isOptional: Bool, _ shape: JSONShape) {
        guard case .object(var properties, let isComplete) = self.shape, !properties.contains(where: { $0.name == name })
        else { return }
        properties.append(JSONShape.Property(name: name, shape: shape, isOptional: isOptional))
        self.shape = .object(properties, isComplete: isComplete)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        if shape == .any { shape = .object([], isComplete: true) }
        return KeyedDecodingContainer(Keyed(recorder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        if shape == .any { shape = .array(.any) }
        return Unkeyed(recorder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(recorder: self) }

    /// The containers of what is within a value, of which nothing is known.
    private static var lost: ShapeRecorder { ShapeRecorder(within: []) }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let recorder: ShapeRecorder
        let codingPath: [any CodingKey] = []
        let allKeys: [Key] = []

        func contains(_ key: Key) -> Bool { true }

        func decodeNil(forKey key: Key) -> Bool {
            recorder.optional = key.stringValue
            return false
        }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            let isOptional = recorder.optional == key.stringValue
            return try make(type, within: recorder.types) {
                recorder.add(key.stringValue, isOptional: isOptional, $0)
            }
        }

        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
            recorder.add(key.stringValue, isOptional: true, shape(of: type, within: recorder.types))
            return nil
        }

        func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedDecodingContainer<N> {
            recorder.add(key.stringValue, isOptional: false, .any)
            return lost.container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
            recorder.add(key.stringValue, isOptional: false, .any)
            return lost.unkeyedContainer()
        }
        func superDecoder() -> any Decoder { lost }
        func superDecoder(forKey key: Key) -> any Decoder {
            recorder.add(key.stringValue, isOptional: false, .any)
            return lost
        }
    }

    /// An array with one element.
    private struct Unkeyed: UnkeyedDecodingContainer {
        let recorder: ShapeRecorder
        let codingPath: [any CodingKey] = []
        let count: Int? = 1
        private(set) var currentIndex = 0
        var isAtEnd: Bool { currentIndex > 0 }

        init(recorder: ShapeRecorder) { self.recorder = recorder }

        mutating func decodeNil() -> Bool { false }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            currentIndex += 1
            return try make(type, within: recorder.types) { shape in
                // Elements of several shapes are positions, for which there is no word.
                if recorder.shape == .array(.any) { recorder.shape = .array(currentIndex == 1 ? shape : .any) }
                else if recorder.shape != .array(shape) { recorder.shape = .array(.any) }
            }
        }

        mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) -> KeyedDecodingContainer<N> {
            currentIndex += 1
            return lost.container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
            currentIndex += 1
            return lost.unkeyedContainer()
        }
        mutating func superDecoder() -> any Decoder {
            currentIndex += 1
            return lost
        }
    }

    private struct Single: SingleValueDecodingContainer {
        let recorder: ShapeRecorder
        let codingPath: [any CodingKey] = []

        func decodeNil() -> Bool { false }

        func decode<T: Decodable>(_ type: T.Type) throws -> T {
            try make(type, within: recorder.types) { if recorder.shape == .any { recorder.shape = $0 } }
        }
    }
}
