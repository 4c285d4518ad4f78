import Testing

@testable import BackplaneDefinitions

struct MethodNameTests {
    @Test(
        arguments: [
            ("search", "search", [], nil, "search"),
            ("searchWithZIPCode:completionBlock:", "searchWithZIPCode", [], 1, "searchWithZIPCode:"),
            ("searchWithZIPCode:completionBlock:progressBlock:", "searchWithZIPCode", [], 1, "searchWithZIPCode:"),
            ("search:radius:completionBlock:", "search", ["radius"], 2, "search:radius:"),
            ("allWithCompletionBlock:", "all", [], 0, "all"),
            ("allWithCompletionBlock:progressBlock:", "all", [], 0, "all"),
            ("completionBlock:", "completionBlock", [], 1, "completionBlock:"),
            ("send::", "send", [""], 2, "send::"),
        ] as [(String, String, [String], Int?, String)])
    func `a key names a method and its arguments, without its blocks`(
        key: String, base: String, labels: [String], count: Int?, selector: String
    ) throws {
        let name = try MethodName(key)
        #expect(name.base == base)
        #expect(name.labels == labels)
        #expect(name.count == count)
        #expect(name.selector == selector)
    }

    @Test(arguments: ["", ":", "::", "a:b", "a b", "a\u{0}", "a\n:", ":completionBlock:"])
    func `other keys are refused`(key: String) {
        #expect(throws: MethodName.Mistake.self) { try MethodName(key) }
    }
}
