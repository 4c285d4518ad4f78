#if Engines
import Hummingbird

/// A part of a list, with the information needed to request the rest.
struct Page<Item> {
    var items: [Item]
    /// The number of this page; the first is 1.
    var page: Int
    var per: Int
    /// The number of items on all pages.
    var total: Int
    /// The number of the next page, omitted on the last page.
    var next: Int?

    static var maximumPer: Int { 100 }

    /// Creates the page chosen by `page` and `per` in the request's query; a page beyond the last is empty.
    init(of all: [Item], _ request: Request) throws(Failure) {
        page = try request.number("page", in: 1...1_000_000, default: 1)
        per = try request.number("per", in: 1...Self.maximumPer, default: 20)
        total = all.count
        items = Array(all.dropFirst((page - 1) * per).prefix(per))
        next = page * per < total ? page + 1 : nil
    }

    private init(items: [Item], page: Int, per: Int, total: Int, next: Int?) {
        (self.items, self.page, self.per, self.total, self.next) = (items, page, per, total, next)
    }

    func map<Other>(_ transform: (Item) -> Other) -> Page<Other> {
        Page<Other>(items: items.map(transform), page: page, per: per, total: total, next: next)
    }
}

extension Page: Encodable where Item: Encodable {}

extension Request {
    fileprivate func number(_ name: Substring, in range: ClosedRange<Int>, default number: Int) throws(Failure) -> Int {
        guard let text = uri.queryParameters[name] else { return number }
        guard let number = Int(text), range.contains(number) else {
            throw Failure(
                .badRequest, "page.invalid", "`\(name)` is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Returns the search in the query parameter `q`.
    func searchQuery() throws(Failure) -> SearchQuery {
        let text = String(uri.queryParameters["q"] ?? "")
        guard text.utf8.count <= 400 else { throw Failure(.badRequest, "query.too-long", "`q` has at most 400 bytes.") }
        guard let query = SearchQuery(text) else {
            throw Failure(.badRequest, "query.empty", "`q` contains no word to search for; write /v2/search?q=whale.")
        }
        return query
    }
}
#endif
