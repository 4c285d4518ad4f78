/// The definition of a web service created by `backplane new definition`.
struct NewDefinition: Sendable, Hashable {
    var name: NewName

    /// The path of the file, which a web service of that name looks for.
    private var path: String { "\(name.text).json" }

    func blueprint(_ commands: NextCommands) -> Blueprint {
        var blueprint = Blueprint(files: [], next: [commands.check(name.folder.map { "\($0)/\(path)" } ?? path)])
        blueprint.add(path, Self.text)
        return blueprint
    }

    /// A definition with a method of each kind: with arguments in the query, with a JSON body, and with files.
    private static let text = """
        {
          "search": {
            "request": { "path": "/items?query=%0&limit=%1" }
          },
          "change": {
            "request": {
              "path": "/items/%0",
              "method": "PUT",
              "body": { "title": "%1" }
            }
          },
          "upload": {
            "request": {
              "path": "/items/%0/files",
              "sessionType": "UploadTask",
              "files": "%1"
            }
          }
        }

        """
}
