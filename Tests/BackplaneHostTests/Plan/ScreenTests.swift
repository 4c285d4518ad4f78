import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// The screens that managers list in their annotations, read before anything starts.
struct `Screens of a manifest` {
    private static func manager(_ name: String, _ annotation: String?) -> ComponentDescription {
        var manager = ComponentDescription.manager(name, provides: .of("Screens", async: ["open"]))
        manager.annotation = annotation
        return manager
    }

    /// An annotation that lists screens.
    private static func list(_ identifiers: String...) -> String {
        let objects = identifiers.map { #"{"identifier": "\#($0)"}"# }
        return #"{"screens": [\#(objects.joined(separator: ", "))]}"#
    }

    /// Resolves the managers `A`, `B` and so on, each of a plugin of its own, with these annotations.
    private func resolve(_ annotations: String?..., screens: ManifestValue? = nil) -> Resolution {
        let components = zip(["A", "B", "C"], annotations).map { Self.manager($0, $1) }
        var managers: [String: ManifestValue] = [:]
        for component in components { managers[component.className] = [:] }
        var manifest: [String: ManifestValue] = ["manifestVersion": 1, "managers": .dictionary(managers)]
        manifest["screens"] = screens
        let entries = components.enumerated().map { order, component in
            Catalogue.Entry(
                plugin: "org.p\(order)", pluginVersion: "1.0.0", order: order, index: 0, component: component)
        }
        return Resolution(ManifestDocument(.dictionary(manifest)), catalogue: Catalogue(entries))
    }

    @Test func `The plan knows the manager of each screen`() {
        let resolution = resolve(Self.list("a.list", "a.page"), Self.list("b.list"))
        #expect(resolution.problems == [])
        #expect(resolution.plan.screens == ["a.list": "A", "a.page": "A", "b.list": "B"])
    }

    @Test func `A screen of two managers is an error of both, which names their plugins`() {
        let resolution = resolve(Self.list("page", "list", "own"), Self.list("list", "page"), Self.list("c"))
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A: screen.clash: `A` of plugin `org.p0` has the screen `list`, as `B` of plugin `org.p1` does, and 1 more screen; choose one manager with `screens.use`",
                "error B /managers/B: screen.clash: `B` of plugin `org.p1` has the screen `list`, as `A` of plugin `org.p0` does, and 1 more screen; choose one manager with `screens.use`",
            ])
        #expect(resolution.plan.screens == ["c": "C"])
    }

    @Test func `The manifest chooses one of them`() {
        let resolution = resolve(
            Self.list("list", "a"), Self.list("list"), screens: ["use": ["list": "B"], "root": "list"])
        #expect(resolution.problems == [])
        #expect(resolution.plan.screens == ["list": "B", "a": "A"])
    }

    @Test func `A choice of something that does not exist is reported at its place`() {
        let resolution = resolve(
            Self.list("list"), Self.list("page"),
            screens: ["use": ["lost": "A", "list": "B", "page": "D"]])
        #expect(
            summary(resolution.problems) == [
                "warning - /screens/use/list: screen.unknown: `B` does not have the screen; `A` does",
                "warning - /screens/use/lost: screen.unknown: `lost` is unknown: no manager has the screen, so that the program has to register it; did you mean `list`?",
                "error - /screens/use/page: manager.unknown: no manager is named `D`; did you mean `A` or `B`?",
            ])
    }

    @Test func `A root or a tab that no manager has is a warning at its place`() {
        let root = resolve(Self.list("books.list"), screens: ["root": "books.lst"])
        #expect(root.problems.map(\.severity) == [.warning])
        #expect(root.problems.map(\.error.code) == [.init(rawValue: "screen.unknown")])
        #expect(root.problems.map(\.error.location) == ["/screens/root"])
        #expect(root.problems.first?.error.message.hasSuffix("did you mean `books.list`?") == true)
        let tabs = resolve(Self.list("a"), screens: ["tabs": ["a", ["screen": "b"]]])
        #expect(tabs.problems.map(\.error.location) == ["/screens/tabs/1"])
        #expect(tabs.plan.managers.keys.sorted() == ["A"])
    }

    @Test func `A flow that no manager is, is an error`() {
        let missing = resolve(Self.list("a"), screens: ["flow": "B"])
        #expect(
            summary(missing.problems) == [
                "error - /screens/flow: manager.unknown: no manager is named `B`; did you mean `A`?"
            ])
        let other = resolve(Self.list("a"), screens: ["flow": "A"])
        #expect(
            summary(other.problems) == [
                "error - /screens/flow: wire.mismatch: `A` cannot be a flow: provides `Screens` 1.0.0; a flow provides Flow 1.0.0"
            ])
    }

    @Test func `Mistakes that a plugin has found in its screens are errors of its manager`() {
        let resolution = resolve(#"{"screens": [], "problems": ["`a b` is not an identifier"]}"#, Self.list("b"))
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A: plugin.invalid-answer: `A` 1.0.0 of plugin `org.p0`: `a b` is not an identifier"
            ])
        #expect(resolution.plan.screens == ["b": "B"])
    }

    @Test func `An annotation without screens is an error that says what is wrong with it`() {
        #expect(
            summary(resolve("{}").problems) == [
                "error A /managers/A: plugin.invalid-answer: the screens of `A` 1.0.0 of plugin `org.p0` cannot be read from its annotation: `screens` is missing (/screens)"
            ])
        #expect(resolve(nil).problems == [])
    }
}
