#if Engines
@testable import BookshelfServer
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SearchTests {
    private let catalogue: Catalogue

    init() throws {
        catalogue = try Catalogue.bundled()
    }

    private func ids(_ text: String) throws -> [String] {
        catalogue.search(try #require(SearchQuery(text))).map(\.id)
    }

    @Test func `titles, authors and subjects are searched`() throws {
        #expect(try ids("moby") == ["moby-dick"])
        #expect(try ids("melville") == ["moby-dick"])
        #expect(try ids("obsession") == ["moby-dick"])
    }

    @Test func `at least three books are about whales`() throws {
        let whales = try ids("whale")
        #expect(whales.count >= 3)
        #expect(whales.contains("moby-dick"))
    }

    @Test(arguments: ["les misérables", "LES MISERABLES", "Miserables Hugo", "hugo, misérables!", "les+miserables"])
    func `neither case nor diacritics nor punctuation matter`(text: String) throws {
        #expect(try ids(text) == ["les-miserables"])
    }

    @Test(arguments: [
        ("soren kierkegaard", "either-or"), ("philosophiae", "principia"), ("švejk", "good-soldier-svejk"),
        ("svejk", "good-soldier-svejk"),
    ])
    func `letters that have no decomposition are found by their spelling`(text: String, id: String) throws {
        #expect(try ids(text).contains(id))
    }

    @Test func `an apostrophe may be left out`() throws {
        #expect(try ids("dolls house") == ["dolls-house"])
        #expect(try ids("doll's house") == ["dolls-house"])
    }

    @Test func `every word has to match`() throws {
        #expect(try ids("moby dick melville") == ["moby-dick"])
        #expect(try ids("moby hugo") == [])
    }

    @Test(arguments: ["", " ", "...", "+", "\t\n", "'"])
    func `a text without a word is no query`(text: String) {
        #expect(SearchQuery(text) == nil)
    }
}
#endif
