import Backplane
import TestFixtures
import Testing

@testable import BackplaneHost

@Suite(.timeLimit(.minutes(5)))
struct ServiceRegistryTests {
    protocol Publication: Sendable { var pages: Int { get } }
    class Periodical: @unchecked Sendable {}  // nothing in it changes
    final class Magazine: Periodical, Publication, @unchecked Sendable {  // what it has is constant
        let pages: Int
        init(pages: Int) { self.pages = pages }
    }
    struct Book: Publication, Hashable {
        var pages: Int
    }
    struct Reader: Hashable {}

    private let host = PluginHost(manifest: Manifest(managers: [:]))
    private var services: ServiceRegistry { host.services }

    @Test func `an instance is found by its own type, its superclass and its protocol`() throws {
        let magazine = Magazine(pages: 5)
        services.register(magazine)
        #expect(try services.resolve(Magazine.self) === magazine)
        #expect(try services.resolve(Periodical.self) === magazine)
        #expect(try services.resolve((any Publication).self).pages == 5)
        let inferred: Magazine = try services.resolve()
        let any: any Publication = try services.resolve()
        #expect(inferred === magazine && any.pages == 5)
    }

    @Test func `one registered as a protocol is found by its own type`() throws {
        let publication: any Publication = Book(pages: 40)
        services.register(publication)
        #expect(try services.resolve(Book.self) == Book(pages: 40))
    }

    @Test func `the first registered wins, and all come in that order`() throws {
        services.register(Book(pages: 40))
        services.register(Magazine(pages: 5))
        services.register(Book(pages: 60))
        #expect(try services.resolve(Book.self).pages == 40)
        #expect(try services.resolve((any Publication).self).pages == 40)
        #expect(services.resolveAll((any Publication).self).map(\.pages) == [40, 5, 60])
        #expect(services.resolveAll(Book.self) { $0.pages > 50 } == [Book(pages: 60)])
        #expect(services.resolveAll(Reader.self).isEmpty)
    }

    @Test func `a predicate chooses among those of the type`() throws {
        services.register(Book(pages: 40))
        services.register(Book(pages: 60))
        #expect(try services.resolve(Book.self) { $0.pages > 50 } == Book(pages: 60))
        let inferred: any Publication = try services.resolve { $0.pages > 50 }
        #expect(inferred.pages == 60)
    }

    @Test func `a predicate may resolve and register itself`() throws {
        services.register(Reader())
        services.register(Book(pages: 40))
        let book = try services.resolve(Book.self) { _ in
            services.register(Magazine(pages: 5))
            return (try? services.resolve(Reader.self)) != nil
        }
        #expect(book.pages == 40)
        #expect(try services.resolve(Magazine.self).pages == 5)
    }

    @Test func `an unregistered type is an error that names it and the registered types`() async {
        services.register(Book(pages: 40))
        services.register(Book(pages: 60))
        services.register(Magazine(pages: 5))
        let unknown = await error { try services.resolve(Reader.self) }
        #expect(unknown?.code == .unknownService)
        #expect(
            unknown?.message == """
                no `BackplaneHostTests.ServiceRegistryTests.Reader` is registered; registered types: `BackplaneHostTests.ServiceRegistryTests.Book`, \
                `BackplaneHostTests.ServiceRegistryTests.Magazine`; register one with `services.register` before it is requested
                """)
    }

    @Test(arguments: [
        (1, "the registered `BackplaneHostTests.ServiceRegistryTests.Book` does not match"),
        (3, "none of the 3 registered `BackplaneHostTests.ServiceRegistryTests.Book` matches"),
    ])
    func `instances that the predicate does not take are told from none at all`(count: Int, words: String) async {
        for pages in 0..<count { services.register(Book(pages: pages)) }
        let unknown = await error { try services.resolve(Book.self) { $0.pages > 50 } }
        #expect(unknown?.code == .unknownService)
        #expect(unknown?.message == "\(words) the predicate; register one that does, or relax the predicate")
    }

    @Test func `instances answer after the host has stopped, and are released with it`() async throws {
        var host: PluginHost? = PluginHost(manifest: Manifest(managers: [:]))
        weak var kept: Magazine?
        do {
            let magazine = Magazine(pages: 5)
            kept = magazine
            host?.services.register(magazine)
        }
        await host?.stop()
        #expect(try host?.services.resolve(Magazine.self).pages == 5)
        host = nil
        await eventually { kept == nil }
    }

    @Test func `racing callers lose nothing`() async throws {
        let services = services
        await withTaskGroup(of: Void.self) { group in
            for pages in 0..<200 {
                group.addTask { @concurrent in
                    services.register(Book(pages: pages))
                    #expect((try? services.resolve(Book.self) { $0.pages == pages }) != nil)
                }
            }
        }
        #expect(Set(services.resolveAll(Book.self)).count == 200)
    }
}
