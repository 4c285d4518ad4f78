package import BackplaneHost

/// The JSON form of a timer in the answer to `statistics`; times are in milliseconds.
package struct TimerStatisticsForm: ControlForm {
    package let value: TimerStatistics

    package init(_ value: TimerStatistics) { self.value = value }

    private enum Key: String, CodingKey {
        case name, every, next, runs, failures, isRunning
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = TimerStatistics(
            name: try container.decode(String.self, forKey: .name),
            period: container.contains(.every) ? try container.decode(millisecondsForKey: .every) : nil,
            next: container.contains(.next) ? try container.decode(millisecondsForKey: .next) : nil,
            runs: try container.decode(Int.self, forKey: .runs),
            failures: try container.decode(Int.self, forKey: .failures),
            isRunning: try container.decode(Bool.self, forKey: .isRunning))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.name, forKey: .name)
        if let period = value.period { try container.encode(milliseconds: period, forKey: .every) }
        if let next = value.next { try container.encode(milliseconds: next, forKey: .next) }
        try container.encode(value.runs, forKey: .runs)
        try container.encode(value.failures, forKey: .failures)
        try container.encode(value.isRunning, forKey: .isRunning)
    }
}
