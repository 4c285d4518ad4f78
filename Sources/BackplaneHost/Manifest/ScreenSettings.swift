import Backplane
import BackplaneDocuments
public import BackplaneScreens

/// The settings of the screens of an application in a manifest.
public struct ScreenSettings: Sendable, Hashable {
    /// The screen that a window begins with; `nil` if it begins with tabs, or as the flow decides.
    public var root: Destination?
    /// The tabs that a window begins with.
    public var tabs: [ScreenTab]
    /// The manager that provides the contract `Flow` and decides how screens are presented; `nil` for pushes and pops.
    public var flow: String?
    /// The managers to use for screens that several managers have, by identifier.
    public var use: [String: String]

    /// Creates settings, which are empty by default.
    public init(
        root: Destination? = nil, tabs: [ScreenTab] = [], flow: String? = nil, use: [String: String] = [:]
    ) {
        (self.root, self.tabs, self.flow, self.use) = (root, tabs, flow, use)
    }
}

/// A tab that a window begins with.
public struct ScreenTab: Sendable, Hashable {
    /// The screen at the root of the tab.
    public var destination: Destination
    /// The title of the tab; `nil` for the title of the screen.
    public var title: String?

    /// Creates a tab with the title of its screen, or with another one.
    public init(_ destination: Destination, title: String? = nil) {
        (self.destination, self.title) = (destination, title)
    }
}

extension ManifestSection {
    static let screens = ManifestSection(
        key: "screens",
        shape: ManifestShape(
            ["root", "tabs", "flow", "use"], ["root": .rootScreen, "tabs": ManifestShape(each: .screenTab)])
    ) { reader, section, manifest in
        var screens = ScreenSettings()
        if let root = section.values["root"] {
            screens.root = reader.screen(root, at: section.path / "root", known: .rootScreen)?.destination
        }
        let tabs = reader.array("tabs", in: section, most: ManifestLimits.tabs) ?? []
        screens.tabs = tabs.enumerated().compactMap { index, tab in
            reader.screen(tab, at: section.path / "tabs" / index, known: .screenTab)
        }
        if section.values["root"] != nil, section.values["tabs"] != nil {
            reader.report(
                .manifestWrongType, "a window begins with one screen, `root`, or with tabs; remove one of the keys",
                at: section.path / "tabs")
        }
        screens.flow = reader.string("flow", in: section)
        screens.use = reader.names("use", in: section)
        manifest.screens = screens
    }
}

extension ManifestShape {
    static let rootScreen = ManifestShape(["screen", "input"])
    static let screenTab = ManifestShape(["screen", "title", "input"])
}

extension ManifestReader {
    /// Reads a screen: its identifier, or a dictionary with the identifier and the input.
    fileprivate mutating func screen(_ value: ManifestValue, at path: ManifestPath, known: ManifestShape) -> ScreenTab?
    {
        if case .string(let identifier) = value {
            guard !unusable.contains(path), isName(identifier, at: path) else { return nil }
            return (try? Destination(identifier)).map { ScreenTab($0) }
        }
        guard let section = section(value, at: path, expected: "a string or a dictionary") else { return nil }
        let identifier = requiredString("screen", in: section)
        let title = known.keys.contains("title") ? string("title", in: section) : nil
        // With a misspelt `input`, the screen would not show what was intended.
        reportUnknownKeys(in: section, known: known, severity: .error)
        guard let identifier, let destination = try? Destination(identifier, section.values["input"] ?? .null) else {
            return nil
        }
        return ScreenTab(destination, title: title)
    }
}
