/// A reference to an argument of a method: `%0`, `%{12}`, `%0[name]` or `%0[author.name]`.
struct Indicator: Sendable {
    /// The position of the argument, counted from 0.
    let index: Int
    /// The names of the properties that identify the value; empty for the argument itself.
    let properties: [String]

    /// The maximum number of arguments of a method, which is limited by two digits.
    static let mostArguments = 100

    /// The subject for messages about the value.
    var subject: String {
        properties.isEmpty ? "the argument \(index)" : "`\(properties.joined(separator: "."))` of the argument \(index)"
    }

    /// The indicator in its long form.
    var text: String { "%{\(index)}" + (properties.isEmpty ? "" : "[\(properties.joined(separator: "."))]") }
}
