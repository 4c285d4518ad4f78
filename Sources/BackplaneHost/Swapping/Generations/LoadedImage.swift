/// A library in this process, as the system sees it.
enum LoadedImage {
    typealias Memory = MappedMemory

    /// By the paths of copies, those left out that are not mapped.
    static func memory(of copies: [String]) throws(SystemError) -> [String: Memory] {
        try MappedMemory.of(Set(copies))
    }
}
