/// Ends the process, as a wrong index or a `!` of nil does.
@_cdecl("hostile_work") func work() {
    fatalError("this cannot happen")
}

#if RETROACTIVE
// swift-format-ignore: AvoidRetroactiveConformances
extension Int: @retroactive Error {}
#endif

#if BUNDLE
import Foundation

extension Bundle {
    /// As SwiftPM makes it for a target with resources.
    static let module = Bundle.main
}

@_cdecl("hostile_resources") func resources() -> Int { Bundle.module.bundlePath.count }
#endif
