import Backplane
package import BackplaneHost

/// The JSON form of the answer to `swap` and `rollback`.
package struct SwapReportForm: ControlForm {
    package let value: SwapReport

    package init(_ value: SwapReport) { self.value = value }

    private enum Key: String, CodingKey {
        case outcome, plugins, managers, components, wires, callsHeld, longestWait, milliseconds, steps, warnings,
            failure
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var value = SwapReport(try container.decode(wordForKey: .outcome))
        value.plugins = try container.decode([PluginChangeForm].self, forKey: .plugins).values
        value.managers = try container.decodeIfPresent(ManifestChangeForm.self, forKey: .managers)?.value
        value.components = try container.decode([ComponentChangeForm].self, forKey: .components).values
        value.wires = try container.decode([WireChangeForm].self, forKey: .wires).values
        value.callsHeld = try container.decode(Int.self, forKey: .callsHeld)
        value.longestWait = try container.decode(millisecondsForKey: .longestWait)
        value.duration = try container.decode(millisecondsForKey: .milliseconds)
        value.steps = try container.decode([StepTimeForm].self, forKey: .steps).values
        value.warnings = try container.decode([String].self, forKey: .warnings)
        value.failure = try container.decodeIfPresent(BackplaneError.self, forKey: .failure)
        self.value = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.outcome, forKey: .outcome)
        try container.encode([PluginChangeForm](value.plugins), forKey: .plugins)
        try container.encodeIfPresent(value.managers.map(ManifestChangeForm.init), forKey: .managers)
        try container.encode([ComponentChangeForm](value.components), forKey: .components)
        try container.encode([WireChangeForm](value.wires), forKey: .wires)
        try container.encode(value.callsHeld, forKey: .callsHeld)
        try container.encode(milliseconds: value.longestWait, forKey: .longestWait)
        try container.encode(milliseconds: value.duration, forKey: .milliseconds)
        try container.encode([StepTimeForm](value.steps), forKey: .steps)
        try container.encode(value.warnings, forKey: .warnings)
        try container.encodeIfPresent(value.failure?.shown, forKey: .failure)
    }
}

/// The JSON form of the time that a step of a swap took.
package struct StepTimeForm: ControlForm {
    package let value: StepTime

    package init(_ value: StepTime) { self.value = value }

    private enum Key: String, CodingKey { case step, milliseconds }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = StepTime(
            step: try container.decode(wordForKey: .step),
            duration: try container.decode(millisecondsForKey: .milliseconds))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.step, forKey: .step)
        try container.encode(milliseconds: value.duration, forKey: .milliseconds)
    }
}

extension SwapReport.Outcome: SpelledCase {
    var word: String {
        switch self {
        case .swapped: "swapped"
        case .unchanged: "unchanged"
        case .rolledBack: "rolledBack"
        }
    }
}

extension SwapStep: SpelledCase {
    var word: String {
        switch self {
        case .prepare: "prepare"
        case .quiesce: "quiesce"
        case .suspend: "suspend"
        case .export: "export"
        case .import: "import"
        case .flip: "flip"
        case .activate: "activate"
        case .probation: "probation"
        case .commit: "commit"
        }
    }
}
