#if !Engines
import BackplaneScaffold

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
        case "plugin":
            let place = try newPlace(&reader), backplane = try reader.text("--backplane")
            subject = .plugin(name: try reader.next("NAME"), place, backplane: backplane)
        case "manager":
            let place = try newPlace(&reader), plugin = try reader.text("--plugin"), dac = reader.flag("--dac"), service = reader.flag("--service")
            subject = .manager(name: try reader.next("NAME"), place, hasStore: dac, hasService: service, plugin: plugin)
        default:
            throw PlainArguments.Unusable(text: "expected plugin, package, manager or app after `new`, found `\(kind)`")
        }
        try reader.finish()
        return NewCommand(subject: subject, json: json).run()
    }

    private static func newPlace(_ reader: inout PlainArguments) throws -> NewCommand.Place {
        NewCommand.Place(package: try reader.text("--package"), manifest: try reader.text("--manifest"))
    }
}
#endif
