extension [any CodingKey] {
    /// The path as a JSON pointer.
    var pointer: String { map(\.pointerStep).joined() }
}

extension CodingKey {
    /// The key as a reference token of a JSON pointer (RFC 6901), after its slash.
    var pointerStep: String {
        if let intValue { return "/\(intValue)" }
        // By scalars: a slash followed by a combining mark is a different character, but still a slash in the pointer.
        var step = "/"
        for scalar in stringValue.unicodeScalars {
            switch scalar {
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.unicodeScalars.append(scalar)
            }
        }
        return step
    }
}
