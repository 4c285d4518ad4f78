import Synchronization
import Testing

@testable import Backplane
@testable import BackplaneHost

@Suite struct RegistrarTests {
    struct Greetings: Contract {
        static let version: Version = "1.0.0"
        let greet = AsyncMethod<String, String>()
        let count = SyncMethod<Nothing, Int>()
    }
    final class Complete: Manager {
        typealias Provides = Greetings
        static let version: Version = "3.0.0"
        struct Wires: Wiring {
            let dataAccessController: Wire<Greetings>
            let clock: Wire<Greetings>?
        }
        init(_ context: Context) {}
        static func methods(_ table: inout Methods) {
            table.async(\.greet) { _, name, _ in "Hello, \(name)!" }
            table.sync(\.count) { _, _, _ in 0 }
        }
    }
    final class MissingMethod: Manager {
        typealias Provides = Greetings
        init(_ context: Context) {}
        static func methods(_ table: inout Methods) {
            table.async(\.greet) { _, name, _ in name }
        }
    }
    final class InvalidWiring: Manager {
        struct Wires: Wiring {
            let clock: Wire<Greetings>
            let limit: Int
        }
        init(_ context: Context) {}
    }
    final class Quiet: NetworkService {
        static let className = "Silence"
        init(_ context: Context) {}
    }

    private func registrar() -> Registrar {
        Registrar(services: HostServices { _, _ in nil }, pluginVersion: "1.5.0")
    }

    @Test func `a component is described by its types alone`() throws {
        var registrar = registrar()
        registrar.add(Complete.self)
        #expect(registrar.problems == [])
        let contract = ContractDescription(
            name: "Greetings", version: "1.0.0",
            methods: [
                MethodDescription(name: "greet", kind: .async),
                MethodDescription(name: "count", kind: .sync),
            ])
        #expect(
            registrar.records.map(\.description) == [
                ComponentDescription(
                    role: .manager, className: "Complete", version: "3.0.0", contract: contract,
                    wires: [
                        WireDescription(label: "dataAccessController", contract: contract),
                        WireDescription(label: "clock", isOptional: true, contract: contract),
                    ])
            ])
    }

    @Test func `a component without a version has its plugin's, and without a contract provides nothing`() throws {
        var registrar = registrar()
        registrar.add(Quiet.self)
        #expect(registrar.problems == [])
        #expect(
            registrar.records.map(\.description) == [
                ComponentDescription(role: .networkService, className: "Silence", version: "1.5.0")
            ])
    }

    @Test func `a method without a body is a problem that names it`() {
        var registrar = registrar()
        registrar.add(MissingMethod.self)
        #expect(registrar.problems == ["MissingMethod provides Greetings but does not implement `count`"])
    }

    @Test func `a wiring with something else in it is a problem that names it`() {
        var registrar = registrar()
        registrar.add(InvalidWiring.self)
        #expect(registrar.problems.count == 1)
        #expect(
            registrar.problems.first?.contains("`limit` is not a Wire; a Wiring cannot have other properties") == true)
    }
}

/// The JSON text about a class, from a component in Swift to its host.
struct AnnotationTests {
    final class Annotated: Manager {
        static var annotation: String? { #"{"colour": "grün"}"# }
        init(_ context: Context) {}
    }
    final class Silent: Manager {
        init(_ context: Context) {}
    }
    final class Malformed: Manager {
        static var annotation: String? { "{" }
        init(_ context: Context) {}
    }

    @Test func `a host reads it without an instance`() throws {
        #expect(try ComponentClass.registered(Annotated.self).description.annotation == #"{"colour": "grün"}"#)
        #expect(try ComponentClass.registered(Silent.self).description.annotation == nil)
    }

    @Test func `one that is not JSON is a mistake of the plugin`() {
        let error = #expect(throws: BackplaneError.self) { try ComponentClass.registered(Malformed.self) }
        #expect(error?.code == .pluginInvalidAnswer)
        #expect(error?.message.hasPrefix("Malformed's annotation cannot be read as JSON: line 1, column 2") == true)
    }
}

struct TypeNameTests {
    private struct Hidden {}
    private struct Box<Content> {}
    struct Open {}

    @Test func `a type is called as it is declared, private or not, optimised or not`() {
        #expect(typeName(of: Open.self) == "Open")
        #expect(typeName(of: Hidden.self) == "Hidden")
        #expect(typeName(of: Box<Hidden>.self) == "Box<Hidden>")
        #expect(typeName(of: Box<(Open, Int)>.self) == "Box<(Open, Int)>")
    }

    @Test(arguments: [
        ("(Numbers in _D6CEA1BED941F67D)", "Numbers"), ("Box<(A in _1), (B in _2)>", "Box<A, B>"),
        ("(Int, Int)", "(Int, Int)"), ("() -> ()", "() -> ()"), ("Open", "Open"),
        ("(", "("),
    ])
    func `what the optimiser adds to a name is left out`(written: String, name: String) {
        #expect(withoutPrivateMarks(written) == name)
    }
}

@Suite(.timeLimit(.minutes(5))) struct ComponentTasksTests {
    @Test func `stopping cancels what runs and waits for it`() async {
        let tasks = ComponentTasks()
        let (started, begin) = AsyncStream.makeStream(of: Void.self)
        let ended = Mutex(false)
        tasks.run {
            begin.finish()
            try? await Task.sleep(for: .seconds(3_600))
            ended.withLock { $0 = true }
        }
        for await _ in started {}

        await tasks.stop()

        #expect(ended.withLock { $0 })
    }

    @Test func `nothing starts after the stop`() async {
        let tasks = ComponentTasks()
        await tasks.stop()
        tasks.run { Issue.record("started after the stop") }
        await tasks.stop()
    }
}

@Suite struct MembersTests {
    struct ValidContract: Contract {
        static let version: Version = "1.2.0"
        let first = AsyncMethod<Int, [String]>()
        let second = SyncMethod<Nothing, String?>("secondOfAll")
        let third = AsyncMethod<[String: Int], Nothing>()
    }
    struct DuplicateNames: Contract {
        static let version: Version = "1.0.0"
        let first = AsyncMethod<Int, Int>()
        let second = AsyncMethod<Int, Int>("first")
    }
    struct ExtraProperty: Contract {
        static let version: Version = "1.0.0"
        let first = AsyncMethod<Int, Int>()
        let limit = 3
    }

    struct Generic<Value: Codable & Sendable>: Contract {
        static var version: Version { "1.0.0" }
        let put = AsyncMethod<Value, Nothing>()
        let get: SyncMethod<Nothing, Value?>
        /// Not in the order of the properties.
        init() {
            get = SyncMethod("take")
            _ = put
        }
    }
    final class NoStruct: Contract {
        static let version: Version = "1.0.0"
        let first = AsyncMethod<Int, Int>()
    }

    @Test func `members are the stored properties in the order they stand in`() {
        let members = Members<ValidContract>()
        #expect(members.problems == [])
        #expect(
            members.description
                == ContractDescription(
                    name: "ValidContract", version: "1.2.0",
                    methods: [
                        MethodDescription(name: "first", kind: .async),
                        MethodDescription(name: "secondOfAll", kind: .sync),
                        MethodDescription(name: "third", kind: .async),
                    ]))
    }

    @Test func `a member's number is its place`() {
        #expect(memberNumber(of: \ValidContract.first) == 0)
        #expect(memberNumber(of: \ValidContract.second) == 1)
        #expect(memberNumber(of: \ValidContract.third) == 2)
    }

    @Test func `two members of one name are a problem`() {
        #expect(
            Members<DuplicateNames>().problems == [
                "DuplicateNames has two members named `first`; give one of them another name"
            ])
    }

    @Test func `a property that is no method is a problem`() {
        #expect(
            Members<ExtraProperty>().problems == [
                "ExtraProperty.limit is not an AsyncMethod, a SyncMethod or a StreamMethod; a contract has no other stored properties"
            ])
    }

    @Test func `members of a generic contract are read like others, however they were made`() {
        let members = Members<Generic<[String]>>()
        #expect(members.problems == [])
        #expect(
            members.description.methods == [
                MethodDescription(name: "put", kind: .async),
                MethodDescription(name: "take", kind: .sync),
            ])
        #expect(members.all.map { $0.type == AsyncMethod<[String], Nothing>.self } == [true, false])
    }

    @Test func `a contract that is no struct is a problem`() {
        #expect(Members<NoStruct>().problems == ["NoStruct must be a struct that contains only methods"])
    }
}

@Suite struct VersionTests {
    @Test(arguments: [
        ("1", "1.0.0"), ("1.2", "1.2.0"), ("1.2.3", "1.2.3"), ("0.0.0", "0.0.0"), ("10.20.30", "10.20.30"),
    ])
    func `one to three numbers are a version`(text: String, expected: String) {
        #expect(Version(text)?.description == expected)
    }

    @Test(arguments: [
        "", ".", "1.", ".1", "1..2", "1.2.3.4", "v1", "1.2-beta", "-1", "+1", " 1", "1.2 ", "١", "99999999999999999999",
        "9223372036854775807",
    ])
    func `anything else is none`(text: String) {
        #expect(Version(text) == nil)
    }

    @Test func `versions compare number by number, not letter by letter`() {
        #expect(Version("1.9") < "1.10")
        #expect(Version("1.10") < "2.0")
        #expect(Version("1.2.3") < "1.2.4")
        #expect(Version("1.2") == "1.2.0")
    }

    @Test(arguments: [
        ("1.4.0", "1.2.0", true), ("1.2.0", "1.2.0", true), ("1.1.9", "1.2.0", false), ("2.0.0", "1.2.0", false),
        ("1.2.0", "2.0.0", false),
    ])
    func `a contract serves users of the same major version that need no later one`(
        provided: String, needed: String, serves: Bool
    ) throws {
        #expect(try #require(Version(provided)).serves(try #require(Version(needed))) == serves)
    }
}
