public import Backplane

/// The JSON that plugins read when they search for managers.
extension ManagerDescription: Encodable {
    private enum CodingKeys: String, CodingKey { case name, className, version, plugin }

    /// Encodes the name, class name, version and plugin.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(className, forKey: .className)
        try container.encode(version, forKey: .version)
        try container.encode(plugin, forKey: .plugin)
    }
}
