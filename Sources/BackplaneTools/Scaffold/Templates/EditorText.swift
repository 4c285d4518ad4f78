import BackplaneDocuments
import BackplaneHost
import FoundationEssentials

/// The settings of a new package for Visual Studio Code and editors that read the same files.
package enum EditorText {
    /// Returns the settings that check manifests against their schema.
    static func settings(_ backplane: BackplanePackage) -> String {
        """
        {
          "json.schemas": [
            { "fileMatch": ["/backplane.json", "/manifests/*.json"], "url": \(json(backplane.schema)) }
          ]
        }

        """
    }

    /// The task that runs `backplane dev` and shows the problems it finds in the editor.
    package static let tasks = """
        {
          "version": "2.0.0",
          "tasks": [
            {
              "label": "backplane dev",
              "type": "shell",
              "command": "backplane dev --json",
              "isBackground": true,
              "problemMatcher": [
                {
                  "owner": "backplane", "source": "swift", "fileLocation": "absolute",
                  "background": \(background),
                  "pattern": { "column": 1, "file": 2, "line": 3, "message": 4, "severity": 5, "regexp": \(json(diagnostic)) }
                },
                {
                  "owner": "backplane-manifest", "source": "backplane",
                  "fileLocation": ["autoDetect", "${workspaceFolder}"],
                  "background": \(background),
                  "pattern": { "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5, "regexp": \(json(problem)) }
                }
              ]
            }
          ]
        }

        """

    private static let background =
        #"{ "activeOnStart": true, "beginsPattern": \#(json(begins)), "endsPattern": \#(json(ends)) }"#
    private static let begins = #""event":"buildStarted""#
    private static let ends = #""event":"(buildEnded|hostStarted|swapped|unchanged|applied|refused)""#
    /// The pattern of a compiler diagnostic, which a build reports only once.
    private static let diagnostic =
        #""diagnostic":\{"column":(\d+),"file":"([^"]+)","line":(\d+),"message":"((?:[^"\\]|\\.)*)","severity":"(error|warning)"\}"#
    /// The pattern of the first problem of a refused manifest.
    private static let problem = #""problems":\["([^":]+):(\d+):(\d+): (error|warning): ((?:[^"\\]|\\.)*)""#

    private static func json(_ text: String) -> String {
        String(decoding: text.json, as: UTF8.self)
    }
}

extension BackplanePackage {
    /// The location of the manifest's schema, as a URL or relative to the new package.
    fileprivate var schema: String {
        switch self {
        case .folder(let path): URL(filePath: FilePath.join(path, "docs/manifest.schema.json")).absoluteString
        case .url: "./.build/checkouts/\(identity)/docs/manifest.schema.json"
        }
    }
}
