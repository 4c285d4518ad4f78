import BackplaneDocuments
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SourcePositionTests {
    private static let xml = """
        <?xml version="1.0"?>
        <!-- é -->
        <plist version="1.0">
          <dict>
            <key>a</key><array><integer>1</integer><dict><key>x/y</key><true/></dict></array>
            <key>b</key> <string>é</string> <key>c</key><dict/>
          </dict>
        </plist>
        """

    @Test(
        arguments: [
            ("", "line 4, column 3"), ("/a", "line 5, column 5"), ("/a/0", "line 5, column 24"),
            ("/a/1", "line 5, column 44"), ("/a/1/x~1y", "line 5, column 50"), ("/c", "line 6, column 37"),
            ("/c/none", "line 6, column 37"), ("/none", "line 4, column 3"), ("/a/7/none", "line 5, column 5"),
        ])
    func `values of an XML property list have positions, members those of their keys`(path: String, expected: String) {
        let all = SourcePosition.positions(of: [path, "/b"], in: Data(Self.xml.utf8))
        #expect(all[path]?.description == expected)
        #expect(all["/b"]?.description == "line 6, column 5")
    }

    @Test func `a malformed text and a binary list have none`() {
        #expect(SourcePosition.positions(of: ["/a"], in: Data("<plist><dict><key>a".utf8)).isEmpty)
        #expect(SourcePosition.positions(of: ["/a"], in: Data("bplist00".utf8)).isEmpty)
    }
}
