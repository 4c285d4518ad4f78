public import Backplane

extension RecordCollection {
    /// Returns the records with all words of a text, the most relevant ones (by BM25) first.
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
    /// - Returns: A list without further pages.
    /// - Throws: `store.unsupported` if the host's engine lacks full text, as the engine in memory does, or the
    ///   tokenizer; `host.interface-missing` if the host is older than this function; `call.invalid-input` for a text
    ///   without a word.
    public func search(_ index: KeyPath<R.Indexes, FullText>, _ text: String, limit: Int = 100)
        async throws(BackplaneError) -> RecordList<R>
    {
        let name = R.Indexes()[keyPath: index].declared.name
        return try await read(StoreSelection(collection: R.collection, index: name, words: text, limit: limit))
    }
}
