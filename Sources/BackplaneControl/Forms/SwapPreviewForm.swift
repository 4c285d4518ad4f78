import Backplane
package import BackplaneHost

/// The JSON form of the answer to `preview`.
package struct SwapPreviewForm: ControlForm {
    package let value: SwapPreview

    package init(_ value: SwapPreview) { self.value = value }

    private enum Key: String, CodingKey { case plugins, components, wires, refusals, warnings }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var value = SwapPreview()
        value.plugins = try container.decode([PluginChangeForm].self, forKey: .plugins).values
        value.components = try container.decode([ComponentChangeForm].self, forKey: .components).values
        value.wires = try container.decode([WireChangeForm].self, forKey: .wires).values
        value.refusals = try container.decode([BackplaneError].self, forKey: .refusals)
        value.warnings = try container.decode([String].self, forKey: .warnings)
        self.value = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode([PluginChangeForm](value.plugins), forKey: .plugins)
        try container.encode([ComponentChangeForm](value.components), forKey: .components)
        try container.encode([WireChangeForm](value.wires), forKey: .wires)
        try container.encode(value.refusals.map(\.shown), forKey: .refusals)
        try container.encode(value.warnings, forKey: .warnings)
    }
}
