public import Backplane

extension RecordCollection {
    /// Returns the records that contain all words of a string, the most relevant ones (by BM25) first.
    ///
    /// ```swift
    /// let found = try await books.search(\.words, "moon vern*")
    /// ```
    ///
    /// - Parameters:
    ///   - index: The index; each word may occur in any of its properties.
    ///   - text: The words, of at most 4,096 bytes. A word that ends with `*` is a prefix, and words in quotation marks
    ///     form a phrase. Other punctuation has no meaning.
    ///   - limit: The maximum number of records; at most 10,000 are returned, and fewer if they exceed 16 MB.
    ///   - cursor: The ``RecordList/next`` of the previous page of the same search; `nil` for the first page. Each
    ///     write slightly changes the relevance of all records, so the pages of a collection that is being written may
    ///     repeat or miss a record. Pages within a transaction do not.
    /// - Throws: `store.unsupported` if the host's engine does not support full-text search (as the in-memory engine),
    ///   or lacks the tokenizer; `host.interface-missing` if the host is older than this function; `call.invalid-input`
    ///   for a text without a word, or the cursor of another query.
    public func search(
        _ index: KeyPath<R.Indexes, FullText>, _ text: String, limit: Int = 100, after cursor: PageCursor? = nil
    ) async throws(BackplaneError) -> RecordList<R> {
        let name = R.Indexes()[keyPath: index].declared.name
        return try await read(
            StoreSelection(collection: R.collection, index: name, words: text, after: cursor, limit: limit))
    }
}
