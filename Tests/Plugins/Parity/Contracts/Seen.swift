import FoundationEssentials

/// A value as another library saw it: that its storage came back alone would not show that it was understood.
public struct Seen<Value: Codable & Sendable>: Codable, Sendable {
    public var value: Value
    public var text: String

    public init(_ value: Value) {
        (self.value, text) = (value, described(value))
    }
}

/// All that is in a value; what has no order is sorted.
private func described(_ value: Any) -> String {
    switch value {
    case let data as Data: return "data \(Array(data))"
    case let date as Date: return "date \(date.timeIntervalSinceReferenceDate)"
    case let string as String: return "\(Array(string.unicodeScalars.map(\.value)))"
    default: break
    }
    let mirror = Mirror(reflecting: value), parts = mirror.children.map { "\($0.label ?? "")=\(described($0.value))" }
    switch mirror.displayStyle {
    case .set, .dictionary: return "{\(mirror.children.map { described($0.value) }.sorted().joined(separator: ", "))}"
    case .collection, .tuple, .optional: return "[\(parts.joined(separator: ", "))]"
    case .enum where !parts.isEmpty, .struct where !parts.isEmpty && !(value is any CustomStringConvertible):
        return "\(type(of: value))(\(parts.joined(separator: ", ")))"
    default: return String(reflecting: value)
    }
}
