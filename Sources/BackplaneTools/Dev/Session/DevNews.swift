import Backplane
import BackplaneControl
import BackplaneHost

/// The inputs of the single task in which `backplane dev` makes its decisions.
enum DevNews: Sendable {
    /// The descriptions of packages were read.
    case packages([Result<DevPackage, BackplaneError>])
    /// Other hosts run the same manifest.
    case others([RunningHost])
    case sources(WatchedChanges)
    case libraries(WatchedChanges)
    /// An event of the build with the given number.
    case build(RunningBuild.News, of: Int)
    /// An event of the application with the given number; events of earlier applications are ignored.
    case host(HostProcess.News, of: Int)
    case answer(HostAnswer, of: Int)
    /// Keys can be read from now on.
    case keys
    case key(DevKey)
    case stop(String)
}

extension DevNews {
    init(_ news: KeyReader.News) {
        self =
            switch news {
            case .begun: .keys
            case .key(let key): .key(key)
            case .closed: .stop("the terminal was closed")
            }
    }
}

/// The host's answer to a request.
enum HostAnswer: Sendable {
    case swapped(ChangeReport)
    case rolledBack(ChangeReport)
    case applied(ChangeReport)
    case generations([Generation])
    case refused(DevEvent.Refusal)
}
