import Backplane
package import BackplaneHost

/// The levels of a host's log, as words.
package struct LogLevelsForm: Codable, Sendable, Hashable {
    /// The lowest level for sources without a level of their own.
    package var standard: String
    /// The levels by the name of a component, the id of a plugin, or `host`.
    package var exceptions: [String: String]
    /// Remarks about names that do not belong to any part of the host.
    package var remarks: [String]

    package init(_ levels: LogLevels, remarks: [String]) {
        (standard, self.remarks) = ("\(levels.standard)", remarks)
        exceptions = levels.exceptions.mapValues { "\($0)" }
    }

    private enum CodingKeys: String, CodingKey {
        case standard = "standard"
        case exceptions = "exceptions"
        case remarks = "remarks"
    }
}

/// A request for the levels of a host's log, which may change some of them first.
package struct LogLevelsRequest: ControlMessage {
    package static let name = "logLevels"
    package typealias Answer = LogLevelsForm
    /// The new lowest level for sources without a level of their own; `nil` leaves it unchanged.
    package var standard: String?
    /// New levels by name; an empty string removes a name's level.
    package var exceptions: [String: String]?
    /// A Boolean value that indicates whether to first restore the levels with which the host was started; `nil` means
    /// no.
    package var reset: Bool?

    package init(standard: String? = nil, exceptions: [String: String] = [:], reset: Bool = false) {
        (self.standard, self.exceptions) = (standard, exceptions.isEmpty ? nil : exceptions)
        self.reset = reset ? true : nil
    }

    private enum CodingKeys: String, CodingKey {
        case standard = "standard"
        case exceptions = "exceptions"
        case reset = "reset"
    }

    static let handler = ControlRequest(
        LogLevelsRequest.self, endsWithClient: false, endsTrouble: true
    ) { host, request, _ throws(BackplaneError) in
        let standard = try request.standard.map { word throws(BackplaneError) in try level(word, at: "/standard") }
        var new: [String: Log.Level] = [:], removed: [String] = []
        for (name, word) in request.exceptions ?? [:] {
            if word.isEmpty { removed.append(name) } else { new[name] = try level(word, at: "/exceptions/\(name)") }
        }
        host.changeLogLevels { levels in
            if request.reset == true { levels = host.firstLogLevels }
            if let standard { levels.standard = standard }
            for name in removed { levels.exceptions[name] = nil }
            levels.exceptions.merge(new) { $1 }
        }
        return LogLevelsForm(host.logLevels, remarks: await host.remarksOnLogLevels())
    }

    private static func level(_ word: String, at location: String) throws(BackplaneError) -> Log.Level {
        if let level = Log.Level.allCases.first(where: { "\($0)" == word }) { return level }
        let all = Log.Level.allCases.map { "\($0)" }.joined(separator: ", ")
        throw BackplaneError(.controlMalformed, "expected one of \(all), found `\(word)`", at: location)
    }
}
