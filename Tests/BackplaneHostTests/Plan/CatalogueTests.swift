import Backplane
import Testing

@testable import BackplaneHost

struct `Choosing a component from the catalogue` {
    let catalogue = Catalogue(
        plugins: [.service("Books", "1.0.0"), .service("Books", "2.1.0"), .manager("Books", "9.0.0")],
        [.service("Books", "2.1.0"), .service("Books", "3.0.0"), .service("Clock")])

    @Test(
        arguments: [
            (nil, "3.0.0", 1), ("[1.0,2.0)", "1.0.0", 0), ("[2.0,3.0)", "2.1.0", 0), ("[1,)", "3.0.0", 1),
            ("[2.1]", "2.1.0", 0),
        ] as [(String?, Version, Int)])
    func `The highest version that fits is taken, of equal ones that of the first plugin`(
        range: String?, version: Version, order: Int
    ) throws {
        let best = try #require(
            try catalogue.best("Books", as: .networkService, in: range.map { try VersionRange($0) }))
        #expect(best.component.version == version)
        #expect(best.order == order)
    }

    @Test func `Another role, another name and a range without a version give nothing`() throws {
        #expect(catalogue.best("Books", as: .communicationController) == nil)
        #expect(catalogue.best("books", as: .networkService) == nil)
        #expect(catalogue.best("Books", as: .networkService, in: "[4,)") == nil)
    }

    @Test func `All of a class are listed, the best first`() {
        #expect(
            catalogue.entries(named: "Books").map(\.component.version) == ["9.0.0", "3.0.0", "2.1.0", "2.1.0", "1.0.0"])
        #expect(catalogue.entries(named: "Books").map(\.order) == [0, 1, 0, 1, 0])
        #expect(catalogue.classNames(as: .networkService) == ["Books", "Clock"])
    }
}
