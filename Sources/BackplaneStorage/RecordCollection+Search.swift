public import Backplane

extension RecordCollection {
    /// Returns the records that contain all words of a string, the most relevant ones (by BM25) first.
    ///
    /// ```swift
    /// let found = try await books.search(\.words, "moon vern*")
    /// ```
    ///
    /// - Parameters:
    ///   - index: The index whose properties have the words, each of them in any property.
    ///   - text: The words. One that ends with `*` is the beginning of a word, and words between quotation marks follow
    ///     one another. Other punctuation has no meaning. At most 4,096 bytes.
    ///   - limit: The maximum number of records; 10,000 at most are returned, and fewer if they have more than 16 MB.
    ///   - cursor: The ``RecordList/next`` of the previous page of the same search; `nil` for the first page. Each
    ///     write changes the relevance of all records a little, so that the pages of a collection that is being written
    ///     may have a record twice, or miss one. The pages within a transaction do not.
    /// - Throws: `store.unsupported` if the host's engine lacks full text, as the engine in memory does, or the
    ///   tokenizer; `host.interface-missing` if the host is older than this function; `call.invalid-input` for a text
    ///   without a word, or the cursor of something else.
    public func search(
        _ index: KeyPath<R.Indexes, FullText>, _ text: String, limit: Int = 100, after cursor: PageCursor? = nil
    ) async throws(BackplaneError) -> RecordList<R> {
        let name = R.Indexes()[keyPath: index].declared.name
        return try await read(
            StoreSelection(collection: R.collection, index: name, words: text, after: cursor, limit: limit))
    }
}
