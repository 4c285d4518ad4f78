import Backplane

/// A selection of records in the form sent to the host, with values in JSON.
struct StoreSelection: Sendable {
    struct Range: Sendable {
        /// The name of the index; `nil` for the ids.
        var index: String?
        var equal: [[UInt8]] = []
        var from: [UInt8]?
        var isFromIncluded = true
        var to: [UInt8]?
        var isToIncluded = false
        /// A Boolean value that indicates whether `from` is a prefix of the values.
        var isPrefix = false
    }
    var collection: String
    /// The ids of the records; `nil` for a range.
    var ids: [String]?
    /// The range; `nil` for ids and for a search.
    var range: Range?
    /// The name of a full-text index, and the words to search for; `nil` for ids and for a range.
    var search: (index: String, words: String)?
    var isDescending = false
    var isWithoutValues = false
    var after: PageCursor?
    var limit: Int
    var conditions: [RecordCondition] = []

    init(collection: String, range: Range = Range(), limit: Int = .max) {
        (self.collection, self.range, self.limit) = (collection, range, limit)
    }

    init(collection: String, ids: [String]) {
        (self.collection, self.ids, limit) = (collection, ids, .max)
    }

    init(collection: String, index: String, words: String, after: PageCursor?, limit: Int) {
        (self.collection, search, self.after, self.limit) = (collection, (index, words), after, limit)
    }
}
