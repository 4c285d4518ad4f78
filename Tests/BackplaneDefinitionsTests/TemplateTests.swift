import Testing

@testable import BackplaneDefinitions

struct TemplateTests {
    /// A template and its remarks as text: `<0.a.b>` for an indicator.
    private func read(_ text: String, isURL: Bool = false) -> (text: String, remarks: [String]) {
        var remarks: [String] = []
        let template = Template(text, isURL: isURL) { remark in
            switch remark {
            case .mistake: remarks.append("mistake")
            case .percent(let found): remarks.append(found)
            case .octet(let octet): remarks.append(octet)
            }
        }
        let pieces = template.pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .indicator(let indicator):
                "<" + (["\(indicator.index)"] + indicator.properties).joined(separator: ".") + ">"
            }
        }
        return (pieces.joined(), remarks)
    }

    @Test(
        arguments: [
            ("", "", []), ("plain", "plain", []), ("%0", "<0>", []), ("a/%0/b", "a/<0>/b", []),
            ("%0%1", "<0><1>", []), ("%{0}", "<0>", []), ("%{12}x", "<12>x", []), ("%0[name]", "<0.name>", []),
            ("%{3}[author.name]s", "<3.author.name>s", []), ("100%%", "100%", []), ("%%0", "%0", []),
            ("%%%0", "%<0>", []), ("%20", "%20", ["%20"]), ("a%2Fb%0", "a%2Fb<0>", ["%2F"]),
            ("%0b", "%0b", ["%0b"]), ("%0x", "<0>x", []), ("%1[a]%2[b]", "<1.a><2.b>", []),
            ("100% sure", "100% sure", ["% "]), ("%", "%", ["%"]), ("%x", "%x", ["%x"]),
            ("%0[name", "[name", ["mistake"]), ("%0[]", "<0.>", ["mistake"]), ("%0[a..b]", "<0.a..b>", ["mistake"]),
            ("%{", "{", ["mistake"]), ("%{}", "{}", ["mistake"]), ("%{x}", "{x}", ["mistake"]),
            ("%{100}", "", ["mistake"]), ("%{1", "{1", ["mistake"]), ("é%0🐳", "é<0>🐳", []),
        ] as [(String, String, [String])])
    func `indicators, percent signs and octets are told apart`(text: String, expected: String, remarks: [String]) {
        let found = read(text)
        #expect(found.text == expected)
        #expect(found.remarks == remarks)
    }

    @Test func `in a URL a percent sign that stands for itself is encoded`() {
        #expect(read("100%%/%41/%", isURL: true).text == "100%25/%41/%25")
    }
}
