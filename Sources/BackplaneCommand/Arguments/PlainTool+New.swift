#if !Engines
/// `new` and what it makes.
extension PlainTool {
    static func makeNew(_ reader: inout PlainArguments) throws -> Int32 {
        let json = reader.flag("--json"), kind = try reader.next("KIND")
        let subject: NewCommand.Subject
        switch kind {
        case "package":
            let backplane = try reader.text("--backplane")
            subject = .package(name: try reader.next("NAME"), backplane: backplane)
        case "app":
            let backplane = try reader.text("--backplane")
            subject = .app(name: try reader.next("NAME"), backplane: backplane)
        default:
            throw PlainArguments.Unusable(text: "expected plugin, package, manager or app after `new`, found `\(kind)`")
        }
        try reader.finish()
        return NewCommand(subject: subject, json: json).run()
    }
}
#endif
