//! Enums whose variants have the names that plans, screens and settings use.

/// Declares an enum with `as_str`, and with `state` where each variant gives one: `Missing = "missing" => Missing`.
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $text:literal $(=> $state:ident)?,)+
    }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// As plans spell it.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        named_enum!(@states $vis $name $($variant $($state)?),+);
    };
    (@states $vis:vis $name:ident $($variant:ident $state:ident),+) => {
        impl $name {
            /// The state of the verdict, unless a ruling says otherwise.
            $vis fn state(self) -> trueup_core::engine::State {
                match self {
                    $(Self::$variant => trueup_core::engine::State::$state,)+
                }
            }
        }
    };
    (@states $vis:vis $name:ident $($variant:ident),+) => {};
}
