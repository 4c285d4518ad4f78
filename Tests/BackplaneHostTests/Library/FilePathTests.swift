import BackplaneHost
import BackplaneTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FilePathTests {
    @Test(arguments: [
        ("/a/b.so", "/a", "b.so"), ("b.so", ".", "b.so"), ("/b.so", "/", "b.so"), ("a/", "a", ""), ("", ".", ""),
        ("a/\u{301}b", "a", "\u{301}b"), ("/a/b/\u{301}", "/a/b", "\u{301}"),
    ])
    func `a path falls into folder and name`(path: String, folder: String, name: String) {
        #expect(FilePath.folder(of: path) == folder)
        #expect(FilePath.name(of: path) == name)
    }

    @Test(arguments: [("/a", "b", "/a/b"), ("/a/", "b", "/a/b"), ("/", "b", "/b"), ("/a", "/b", "/b"), ("", "b", "b")])
    func `a relative name is joined, an absolute one stands for itself`(folder: String, name: String, path: String) {
        #expect(FilePath.join(folder, name) == path)
    }

    @Test func `a path from the root on has one spelling`() {
        let current = FileManager.default.currentDirectoryPath
        for (path, absolute) in [
            ("/a//b/./c/", "/a/b/c"), ("/a/../../b", "/b"), ("/", "/"), ("", current), ("x/../y", current + "/y"),
            ("/\u{301}x/../y", "/y"),
        ] {
            #expect(FilePath.absolute(path) == absolute)
        }
    }
}
