/// The text that is kept: a line for each thing.
extension BoundaryLayout {
    var text: String {
        var lines = ["abi \(abi.lowerBound) to \(abi.upperBound)"]
        for type in structs {
            lines.append(
                "struct \(type.name): \(type.size) bytes, aligned to \(type.alignment)\(type.neverGrows ? ", never grows" : "")"
            )
            lines += type.fields.map { "\(type.name).\($0.name) at \($0.offset), \($0.size) bytes: \($0.type)" }
        }
        lines += constants.map { "constant \($0.name): \($0.value)" }
        lines += functions.map { "function \($0.name): \($0.value)" }
        return lines.joined(separator: "\n") + "\n"
    }

    struct Malformed: Error, Equatable {
        var line: String
    }

    init(text: String) throws(Malformed) {
        self.init()
        for line in text.split(separator: "\n") where !read(line) { throw Malformed(line: String(line)) }
    }

    private mutating func read(_ line: Substring) -> Bool {
        if let match = line.wholeMatch(of: /abi (\d+) to (\d+)/) {
            guard let lowest = Int(match.1), let highest = Int(match.2), lowest <= highest else { return false }
            abi = lowest...highest
        } else if let match = line.wholeMatch(of: /struct (\w+): (\d+) bytes, aligned to (\d+)(, never grows)?/) {
            guard let size = Int(match.2), let alignment = Int(match.3) else { return false }
            structs.append(Struct(name: String(match.1), size: size, alignment: alignment, neverGrows: match.4 != nil))
        } else if let match = line.wholeMatch(of: /(\w+)\.(\w+) at (\d+), (\d+) bytes: (.+)/) {
            guard let last = structs.indices.last, structs[last].name == match.1, let offset = Int(match.3),
                let size = Int(match.4)
            else { return false }
            structs[last].fields.append(Field(name: String(match.2), offset: offset, size: size, type: String(match.5)))
        } else if let match = line.wholeMatch(of: /constant (\w+): (.+)/) {
            constants.append(Named(name: String(match.1), value: String(match.2)))
        } else if let match = line.wholeMatch(of: /function (\w+): (.+)/) {
            functions.append(Named(name: String(match.1), value: String(match.2)))
        } else {
            return false
        }
        return true
    }
}
