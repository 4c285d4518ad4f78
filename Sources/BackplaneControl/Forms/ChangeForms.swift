import Backplane
package import BackplaneHost

/// The JSON form of a plugin's change in a report or preview.
package struct PluginChangeForm: ControlForm {
    package let value: PluginChange

    package init(_ value: PluginChange) { self.value = value }

    private enum Key: String, CodingKey { case plugin, library, fromGeneration, toGeneration, fromVersion, toVersion }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = PluginChange(
            plugin: try container.decode(String.self, forKey: .plugin),
            library: try container.decode(String.self, forKey: .library),
            fromGeneration: try container.decode(Int.self, forKey: .fromGeneration),
            toGeneration: try container.decode(Int.self, forKey: .toGeneration),
            fromVersion: try container.decode(Version.self, forKey: .fromVersion),
            toVersion: try container.decode(Version.self, forKey: .toVersion))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.plugin, forKey: .plugin)
        try container.encode(value.library, forKey: .library)
        try container.encode(value.fromGeneration, forKey: .fromGeneration)
        try container.encode(value.toGeneration, forKey: .toGeneration)
        try container.encode(value.fromVersion, forKey: .fromVersion)
        try container.encode(value.toVersion, forKey: .toVersion)
    }
}

/// The JSON form of a component's change in a report or preview.
package struct ComponentChangeForm: ControlForm {
    package let value: ComponentChange

    package init(_ value: ComponentChange) { self.value = value }

    private enum Key: String, CodingKey {
        case component, formerName, role, className, fromVersion, toVersion, manner, isRestart, state, callsInFlight
        case graphs
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var value = ComponentChange(
            component: try container.decode(String.self, forKey: .component),
            role: try container.decode(String.self, forKey: .role),
            className: try container.decode(String.self, forKey: .className),
            fromVersion: try container.decodeIfPresent(Version.self, forKey: .fromVersion),
            toVersion: try container.decode(Version.self, forKey: .toVersion),
            manner: try container.decode(wordForKey: .manner),
            isRestart: try container.decode(Bool.self, forKey: .isRestart),
            state: try container.decodeIfPresent(StateChangeForm.self, forKey: .state)?.value,
            callsInFlight: try container.decode(Int.self, forKey: .callsInFlight))
        value.formerName = try container.decodeIfPresent(String.self, forKey: .formerName)
        value.graphs = try container.decodeIfPresent([String].self, forKey: .graphs) ?? []
        self.value = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.component, forKey: .component)
        try container.encodeIfPresent(value.formerName, forKey: .formerName)
        try container.encode(value.role, forKey: .role)
        try container.encode(value.className, forKey: .className)
        try container.encodeIfPresent(value.fromVersion, forKey: .fromVersion)
        try container.encode(value.toVersion, forKey: .toVersion)
        try container.encode(value.manner, forKey: .manner)
        try container.encode(value.isRestart, forKey: .isRestart)
        try container.encodeIfPresent(value.state.map(StateChangeForm.init), forKey: .state)
        try container.encode(value.callsInFlight, forKey: .callsInFlight)
        if !value.graphs.isEmpty { try container.encode(value.graphs, forKey: .graphs) }
    }
}

extension ComponentChange.Manner: SpelledCase {
    var word: String {
        switch self {
        case .gated: "gated"
        case .ungated: "ungated"
        }
    }
}

/// The JSON form of the change of a component's state in a report or preview.
package struct StateChangeForm: ControlForm {
    package let value: StateChange

    package init(_ value: StateChange) { self.value = value }

    private enum Key: String, CodingKey { case schema, fromVersion, toVersion, bytes, lane, reason, lost, remark }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = StateChange(
            schema: try container.decode(String.self, forKey: .schema),
            fromVersion: try container.decodeIfPresent(UInt32.self, forKey: .fromVersion),
            toVersion: try container.decodeIfPresent(UInt32.self, forKey: .toVersion),
            bytes: try container.decode(Int.self, forKey: .bytes),
            lane: try container.decodeIfPresent(String.self, forKey: .lane),
            reason: try container.decodeIfPresent(String.self, forKey: .reason),
            lost: try container.decodeIfPresent(String.self, forKey: .lost),
            remark: try container.decodeIfPresent(String.self, forKey: .remark))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value.schema, forKey: .schema)
        try container.encodeIfPresent(value.fromVersion, forKey: .fromVersion)
        try container.encodeIfPresent(value.toVersion, forKey: .toVersion)
        try container.encode(value.bytes, forKey: .bytes)
        try container.encodeIfPresent(value.lane, forKey: .lane)
        try container.encodeIfPresent(value.reason, forKey: .reason)
        try container.encodeIfPresent(value.lost, forKey: .lost)
        try container.encodeIfPresent(value.remark, forKey: .remark)
    }
}

/// The JSON form of a wire's change in a report or preview.
package struct WireChangeForm: ControlForm {
    package let value: WireChange

    package init(_ value: WireChange) { self.value = value }

    private enum Key: String, CodingKey { case user, label, provider, contract, fromLane, toLane, reason }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        value = WireChange(
            user: try container.decodeIfPresent(String.self, forKey: .user),
            label: try container.decode(String.self, forKey: .label),
            provider: try container.decode(String.self, forKey: .provider),
            contract: try container.decode(String.self, forKey: .contract),
            fromLane: try container.decode(String.self, forKey: .fromLane),
            toLane: try container.decode(String.self, forKey: .toLane),
            reason: try container.decodeIfPresent(String.self, forKey: .reason))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(value.user, forKey: .user)
        try container.encode(value.label, forKey: .label)
        try container.encode(value.provider, forKey: .provider)
        try container.encode(value.contract, forKey: .contract)
        try container.encode(value.fromLane, forKey: .fromLane)
        try container.encode(value.toLane, forKey: .toLane)
        try container.encodeIfPresent(value.reason, forKey: .reason)
    }
}
