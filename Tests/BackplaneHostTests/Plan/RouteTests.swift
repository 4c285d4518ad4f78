import Backplane
import BackplaneDocuments
import BackplaneTestKit
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// The routes that managers list in their annotations, read before anything starts.
@Suite(.timeLimit(.minutes(5)))
struct `Routes of a manifest` {
    private static func manager(_ name: String, _ annotation: String?) -> ComponentDescription {
        var manager = ComponentDescription.manager(name, provides: .of("HTTPRoutes", async: ["answer"]))
        manager.annotation = annotation
        return manager
    }

    private static let advice =
        "give one of them another path, or mount one manager elsewhere with `server.mount`"

    /// An annotation that lists routes such as `GET /books/:id`.
    private static func list(_ routes: String...) -> String {
        let objects = routes.map { route in
            let parts = route.split(separator: " ", maxSplits: 1)
            return #"{"method": "\#(parts[0])", "path": "\#(parts[1])", "kind": "answer"}"#
        }
        return #"{"routes": [\#(objects.joined(separator: ", "))]}"#
    }

    /// Resolves the managers `A`, `B` and so on, with these annotations, for a server.
    private func resolve(_ annotations: String?..., server: ManifestValue? = [:]) -> Resolution {
        let components = zip(["A", "B", "C"], annotations).map { Self.manager($0, $1) }
        var managers: [String: ManifestValue] = [:]
        for component in components { managers[component.className] = [:] }
        var manifest: [String: ManifestValue] = ["manifestVersion": 1, "managers": .dictionary(managers)]
        manifest["server"] = server
        return Resolution(ManifestDocument(.dictionary(manifest)), catalogue: Catalogue(plugins: components))
    }

    @Test(arguments: [
        ("GET /books/:id", "GET /books/:name"), ("GET /", "GET /"),
        ("PUT /:a/:b", "PUT /:b/:a"), ("GET /a/*rest", "GET /a/*path"),
    ])
    func `Routes of one method and equivalent paths are an error of both managers`(one: String, other: String) {
        let resolution = resolve(Self.list("POST /a", one), Self.list(other, "POST /b"))
        let advice = Self.advice
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A: route.clash: `\(one)` of `A` clashes with `\(other)` of `B`; \(advice)",
                "error B /managers/B: route.clash: `\(other)` of `B` clashes with `\(one)` of `A`; \(advice)",
            ])
        #expect(resolution.plan.managers.isEmpty)
    }

    @Test(arguments: [
        ("GET /books/:id", "POST /books/:id"), ("GET /books/:id", "GET /books/new"),
        ("GET /books/:id", "GET /books/:id/pages"), ("GET /books/1", "GET /:kind/1"), ("GET /a/b", "GET /ab"),
    ])
    func `Other methods and paths do not clash`(one: String, other: String) {
        let resolution = resolve(Self.list(one), Self.list(other))
        #expect(summary(resolution.problems) == [])
        #expect(resolution.plan.managers.keys.sorted() == ["A", "B"])
    }

    @Test func `Each of several managers hears of another`() {
        let resolution = resolve(Self.list("GET /a"), Self.list("GET /a"), Self.list("GET /a"))
        #expect(
            resolution.problems.map(\.error.message)
                == ["AB", "BA", "CA"].map { names in
                    "`GET /a` of `\(names.prefix(1))` clashes with `GET /a` of `\(names.suffix(1))`; "
                        + Self.advice
                })
    }

    @Test func `Several clashes of a manager are one problem, and a path of the server clashes, too`() {
        let resolution = resolve(
            Self.list("GET /a", "GET /b", "GET /c"), Self.list("GET /a", "GET /b"), server: ["health": "/c"])
        #expect(
            summary(resolution.problems) == [
                "error A /server/health: route.clash: `A` has the route `GET /c`, which this path hides; choose another path",
                "error A /managers/A: route.clash: `GET /a` of `A` clashes with `GET /a` of `B`, and 1 more route; "
                    + Self.advice,
                "error B /managers/B: route.clash: `GET /a` of `B` clashes with `GET /a` of `A`, and 1 more route; "
                    + Self.advice,
            ])
    }

    @Test func `A route that a manager lists twice is reported once`() {
        let resolution = resolve(Self.list("GET /a/:b", "GET /a/:c"))
        #expect(
            resolution.problems.map(\.error.message) == [
                "`GET /a/:c` of `A` clashes with `GET /a/:b` of `A`; \(Self.advice)"
            ])
    }

    @Test func `Prefixes separate routes, and join others`() {
        func problems(of one: String, under prefix: ManifestValue, and other: String) -> [String] {
            let resolution = resolve(
                Self.list(one), Self.list(other), server: ["mount": ["A": prefix, "B": "/"]])
            return resolution.problems.map(\.error.message)
        }
        #expect(problems(of: "GET /books/:id", under: "/api", and: "GET /books/:id") == [])
        let advice = Self.advice
        #expect(
            problems(of: "GET /:id", under: "/books", and: "GET /books/:name") == [
                "`GET /books/:id` of `A` clashes with `GET /books/:name` of `B`; \(advice)",
                "`GET /books/:name` of `B` clashes with `GET /books/:id` of `A`; \(advice)",
            ])
    }

    @Test func `A manager that is not mounted clashes with none, and the plan has its routes`() {
        let resolution = resolve(Self.list("GET /a"), Self.list("GET /a"), server: ["mount": ["A": "/"]])
        #expect(resolution.problems.isEmpty)
        #expect(resolution.plan.routes.map(\.manager) == ["A", "B"])
    }

    @Test func `Without a server, a clash is a warning`() {
        let resolution = resolve(Self.list("GET /*rest"), Self.list("GET /*path"), server: nil)
        #expect(resolution.problems.map(\.severity) == [.warning, .warning])
        #expect(resolution.plan.managers.keys.sorted() == ["A", "B"])
    }

    @Test func `Only managers with routes are mounted`() {
        let resolution = resolve(Self.list("GET /a"), server: ["mount": ["A": "/", "a": "/b", "D": "/d"]])
        #expect(
            summary(resolution.problems).map { $0.prefix { $0 != ";" } } == [
                "error - /server/mount/D: manager.unknown: no manager is named `D`",
                "error - /server/mount/a: manager.unknown: no manager is named `a`",
            ])
        let other = Resolution(
            ManifestDocument(["manifestVersion": 1, "managers": ["A": [:]], "server": ["mount": ["A": "/"]]]),
            catalogue: Catalogue(plugins: [.manager("A", provides: .of("Other"))]))
        #expect(
            other.problems.map(\.error.message) == [
                "`A` cannot be a server: provides `Other` 1.0.0; a server provides HTTPRoutes 1.0.0"
            ])
    }

    @Test func `Mistakes that a plugin has found in its routes are errors of its manager`() {
        let resolution = resolve(
            #"{"routes": [], "problems": ["`/a//b` has an empty segment", "`x` has no slash"]}"#,
            Self.list("GET /books"))
        #expect(
            summary(resolution.problems) == [
                "error A /managers/A: plugin.invalid-answer: `A` 1.0.0 of plugin `org.p0`: `/a//b` has an empty segment",
                "error A /managers/A: plugin.invalid-answer: `A` 1.0.0 of plugin `org.p0`: `x` has no slash",
            ])
        #expect(Array(resolution.plan.managers.keys) == ["B"])
    }

    @Test(arguments: [
        ("[]", "expected an object, found an array"), ("{}", "`routes` is missing (/routes)"),
        (
            #"{"routes": [{"method": "GET", "kind": "answer"}]}"#, "`path` is missing (/routes/0/path)"
        ),
    ])
    func `An annotation without routes is an error that says what is wrong with it`(annotation: String, says: String) {
        #expect(
            summary(resolve(annotation).problems) == [
                "error A /managers/A: plugin.invalid-answer: the routes of `A` 1.0.0 of plugin `org.p0` cannot be read from its annotation: \(says)"
            ])
    }

    @Test func `Annotations of other contracts, and missing ones, are not read`() {
        var other = ComponentDescription.manager("A", provides: .of("Other"))
        other.annotation = "[]"
        let catalogue = Catalogue(plugins: [other, Self.manager("B", nil)])
        #expect(Resolution(["A": [:], "B": [:]], catalogue).problems == [])
    }

    @Test func `Managers in C clash like others, in a check, at the start and in a change`() async throws {
        func manifest(_ managers: String...) -> String {
            let managers = managers.map { #""\#($0)": {"className": "RoutesInC"}"# }.joined(separator: ", ")
            return
                #"{"manifestVersion": 1, "plugins": [{"library": "FixturesInC"}], "managers": {\#(managers)}, "server": {}}"#
        }
        let both = try TestHost(manifest("A", "B"), pluginPaths: [BuiltProducts.folder])
        #expect(await both.host.check().map(\.error.code) == [.routeClash, .routeClash])
        let fault = await error { try await both.call("A", "answer") }
        #expect(fault?.code == .routeClash)
        await both.host.stop()

        let one = try TestHost(manifest("A"), pluginPaths: [BuiltProducts.folder])
        #expect(await one.host.check() == [])
        #expect(try await one.call("A", "answer") == #"{"status": 204}"#)
        let refusal = await error {
            try await one.host.apply(
                ManifestDocument(parsing: Data(manifest("A", "B").utf8), path: one.folder + "/manifest"))
        }
        #expect(
            refusal?.detailedDescription.contains("`GET /clock/:zone` of `A` clashes with `GET /clock/:zone` of `B`")
                == true)
        #expect(try await one.call("A", "answer") == #"{"status": 204}"#)
        await one.host.stop()
    }
}

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
                "warning - /screens/use/lost: screen.unknown: `lost` is unknown: no manager has the screen, so the program must register it; did you mean `list`?",
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
