import Backplane
import BackplaneNetwork

/// The values of a sign-in as entered: texts, and file descriptors to read values from.
struct SignInValues: Sendable {
    private var texts: [String: String] = [:]
    /// The descriptors, in the order in which they are read.
    private var descriptors: [(name: String, number: Int32)] = []

    /// Parses `NAME=TEXT` and `NAME=NUMBER` arguments.
    init(texts: [String], descriptors: [String]) throws(Misuse) {
        for text in texts {
            let (name, value) = try Self.pair(text, of: "--value", expected: "NAME=TEXT")
            guard self.texts.updateValue(value, forKey: name) == nil else { throw Self.repeated(name) }
        }
        for text in descriptors {
            let (name, value) = try Self.pair(text, of: "--value-fd", expected: "NAME=NUMBER")
            guard let number = Int32(value), number >= 0 else {
                throw Misuse(description: "--value-fd: expected NAME=NUMBER, the number of a file descriptor")
            }
            guard self.texts[name] == nil else {
                throw Misuse(description: "--value and --value-fd both set `\(name)`; use only one of them")
            }
            guard !self.descriptors.contains(where: { $0.name == name }) else { throw Self.repeated(name) }
            self.descriptors.append((name, number))
        }
    }

    private static func repeated(_ name: String) -> Misuse {
        Misuse(description: "the value `\(name)` is given twice; give it once")
    }

    private static func pair(
        _ text: String, of option: String, expected: String
    ) throws(Misuse) -> (String, String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw Misuse(description: "\(option): expected \(expected)")
        }
        return (String(parts[0]), String(parts[1]))
    }

    /// Returns the values, including those from descriptors, and prompts for missing ones.
    ///
    /// - Throws: `network.sign-in` if a descriptor cannot be read, or there is no terminal for prompts.
    func all(needed names: [String]) throws(BackplaneError) -> [String: String] {
        var values = texts
        for (name, descriptor) in descriptors {
            guard let line = SecretLine.read(from: descriptor) else {
                throw BackplaneError(
                    .networkSignIn, "the value `\(name)` cannot be read from the file descriptor \(descriptor)")
            }
            values[name] = line
        }
        let missing = names.filter { values[$0] == nil }
        guard !missing.isEmpty else { return values }
        guard let terminal = SecretPrompt() else {
            let list = missing.map { "`\($0)`" }.joined(separator: ", ")
            throw BackplaneError(
                .networkSignIn,
                "the sign-in requires the values \(list), and there is no terminal to prompt for them; pass them "
                    + "with --value or --value-fd"
            )
        }
        for name in missing {
            guard let line = terminal.ask("\(name): ") else {
                throw BackplaneError(.networkSignIn, "the value `\(name)` was not entered")
            }
            values[name] = line
        }
        return values
    }
}
