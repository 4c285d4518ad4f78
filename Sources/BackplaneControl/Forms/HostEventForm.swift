import Backplane
package import BackplaneHost

/// The JSON form of a host's event: its time, its kind, and the details for that kind.
package struct HostEventForm: ControlForm {
    package let value: HostEvent

    package init(_ value: HostEvent) { self.value = value }

    private enum Key: String, CodingKey {
        case time, event, managers, report, change, operation, error, wire, missed
    }
    private enum Word: String, CaseIterable {
        case started, swapped, applied, reset, failed, laneChanged, missed
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let text = try container.decode(String.self, forKey: .event)
        guard let word = Word(rawValue: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: .event, in: container, debugDescription: "unknown event `\(text)`")
        }
        let kind: HostEvent.Kind =
            switch word {
            case .started: .started(managers: try container.decode([String].self, forKey: .managers))
            case .swapped: .swapped(try container.decode(SwapReportForm.self, forKey: .report).value)
            case .applied: .applied(try container.decode(ManifestChangeForm.self, forKey: .change).value)
            case .reset: .reset(try container.decode(ManifestChangeForm.self, forKey: .change).value)
            case .failed:
                .failed(
                    try container.decode(wordForKey: .operation),
                    try container.decode(BackplaneError.self, forKey: .error))
            case .laneChanged: .laneChanged(try container.decode(WireChangeForm.self, forKey: .wire).value)
            case .missed: .missed(try container.decode(Int.self, forKey: .missed))
            }
        value = HostEvent(time: try container.decode(Double.self, forKey: .time), kind)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.time, forKey: .time)
        func encode(_ word: Word) throws { try container.encode(word.rawValue, forKey: .event) }
        switch value.kind {
        case .started(let managers):
            try encode(.started)
            try container.encode(managers, forKey: .managers)
        case .swapped(let report):
            try encode(.swapped)
            try container.encode(SwapReportForm(report), forKey: .report)
        case .applied(let change):
            try encode(.applied)
            try container.encode(ManifestChangeForm(change), forKey: .change)
        case .reset(let change):
            try encode(.reset)
            try container.encode(ManifestChangeForm(change), forKey: .change)
        case .failed(let operation, let error):
            try encode(.failed)
            try container.encode(operation, forKey: .operation)
            try container.encode(error.shown, forKey: .error)
        case .laneChanged(let wire):
            try encode(.laneChanged)
            try container.encode(WireChangeForm(wire), forKey: .wire)
        case .missed(let count):
            try encode(.missed)
            try container.encode(count, forKey: .missed)
        }
    }
}

extension HostEvent.Operation: SpelledCase {
    var word: String {
        switch self {
        case .start: "start"
        case .swap: "swap"
        case .rollback: "rollback"
        case .apply: "apply"
        case .reset: "reset"
        }
    }
}
