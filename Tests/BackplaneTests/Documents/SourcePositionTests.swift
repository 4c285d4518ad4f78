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

    @Test func `a malformed text and a binary list have none`() {
        #expect(SourcePosition.positions(of: ["/a"], in: Data("<plist><dict><key>a".utf8)).isEmpty)
        #expect(SourcePosition.positions(of: ["/a"], in: Data("bplist00".utf8)).isEmpty)
    }
}
