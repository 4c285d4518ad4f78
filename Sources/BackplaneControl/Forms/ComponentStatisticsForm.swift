package import BackplaneHost

/// The JSON form of a component's statistics in the answer to `statistics`.
package struct ComponentStatisticsForm: ControlForm {
    package let value: ComponentStatistics

    package init(_ value: ComponentStatistics) { self.value = value }

    private enum Key: String, CodingKey {
        case component, role, managers, plugin, generation, calls, errors, inFlight, waiting
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = ComponentStatistics(
            component: try container.decode(String.self, forKey: .component),
            role: try container.decode(String.self, forKey: .role),
            managers: try container.decode([String].self, forKey: .managers),
            plugin: try container.decode(String.self, forKey: .plugin),
            generation: try container.decode(Int.self, forKey: .generation),
            calls: try container.decode(Int.self, forKey: .calls),
            errors: try container.decode(Int.self, forKey: .errors),
            inFlight: try container.decode(Int.self, forKey: .inFlight),
            waiting: try container.decode(Int.self, forKey: .waiting))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.component, forKey: .component)
        try container.encode(value.role, forKey: .role)
        try container.encode(value.managers, forKey: .managers)
        try container.encode(value.plugin, forKey: .plugin)
        try container.encode(value.generation, forKey: .generation)
        try container.encode(value.calls, forKey: .calls)
        try container.encode(value.errors, forKey: .errors)
        try container.encode(value.inFlight, forKey: .inFlight)
        try container.encode(value.waiting, forKey: .waiting)
    }
}
