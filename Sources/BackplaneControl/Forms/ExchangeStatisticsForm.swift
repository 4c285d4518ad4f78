package import BackplaneHost

/// The JSON form of the counts of a component's exchanges in the answer to `statistics`.
package struct ExchangeStatisticsForm: ControlForm {
    package let value: ExchangeStatistics

    package init(_ value: ExchangeStatistics) { self.value = value }

    private enum Key: String, CodingKey {
        case begun, failed, inFlight, sent, received
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = ExchangeStatistics(
            begun: try container.decode(Int.self, forKey: .begun),
            failed: try container.decode(Int.self, forKey: .failed),
            inFlight: try container.decode(Int.self, forKey: .inFlight),
            sent: try container.decode(Int.self, forKey: .sent),
            received: try container.decode(Int.self, forKey: .received))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.begun, forKey: .begun)
        try container.encode(value.failed, forKey: .failed)
        try container.encode(value.inFlight, forKey: .inFlight)
        try container.encode(value.sent, forKey: .sent)
        try container.encode(value.received, forKey: .received)
    }
}
